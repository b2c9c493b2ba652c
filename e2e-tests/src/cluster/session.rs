//! A recording of what a policy asked and what the host answered, as kwctl writes and replays it.
//!
//! Replay is strict: each question takes the next recorded exchange, whatever it is, and must equal it in every field.

use std::{collections::VecDeque, path::Path, sync::Mutex};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Answer, Cluster};
use crate::{query::Query, refusal::Refusal};

/// One question and its answer, as in kwctl's session files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub struct Exchange {
    /// The question, as YAML text with a tag.
    pub request: String,
    /// What was answered.
    pub response: Response,
}

/// A recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Response {
    /// The answer's JSON text.
    Success {
        /// The text.
        payload: String,
    },
    /// The cluster refused.
    Error {
        /// The error's text, without the prefix that the host adds.
        message: String,
    },
}

/// A session that cannot be read.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The file cannot be read.
    #[error("cannot read session: {0}")]
    Read(#[from] std::io::Error),
    /// The file is not a list of exchanges.
    #[error("session is not a list of exchanges: {0}")]
    Format(#[source] serde_norway::Error),
    /// A recorded question is none that is known here.
    #[error("request of exchange {number}: {source}")]
    Request {
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        source: serde_norway::Error,
    },
}

/// A cluster that replays a session.
#[derive(Debug)]
pub struct Session {
    rest: Mutex<VecDeque<(Query, Response)>>,
}

impl Session {
    /// Reads a session file.
    ///
    /// # Errors
    /// The file cannot be read or is not a session.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    /// Reads the text of a session file.
    ///
    /// # Errors
    /// The text is not a session.
    pub fn parse(text: &str) -> Result<Self, SessionError> {
        let exchanges: Vec<Exchange> = serde_norway::from_str(text).map_err(SessionError::Format)?;
        let mut rest = VecDeque::new();
        for (number, exchange) in (1..).zip(exchanges) {
            let query = serde_norway::from_str(&exchange.request).map_err(|source| SessionError::Request { number, source })?;
            rest.push_back((query, exchange.response));
        }
        Ok(Self { rest: Mutex::new(rest) })
    }

    /// The questions that nobody asked.
    #[must_use]
    pub fn unused(&self) -> Vec<Query> {
        self.rest.lock().map(|rest| rest.iter().map(|(query, _)| query.clone()).collect()).unwrap_or_default()
    }
}

impl Cluster for Session {
    fn ask(&self, query: &Query) -> Answer {
        let next = self.rest.lock().ok().and_then(|mut rest| rest.pop_front());
        let Some((expected, response)) = next else {
            return Err(Refusal::Failed("the list of recorded responses is empty".to_owned()));
        };
        if expected != *query {
            return Err(Refusal::Failed(format!(
                "Replay error: unexpected request. Was expecting {expected:?}, got {query:?} instead"
            )));
        }
        match response {
            Response::Success { payload } => Ok(payload.into_bytes()),
            Response::Error { message } => Err(Refusal::Failed(message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: Namespace
    name: shop
    namespace: null
    disable_cache: false
  response:
    type: Success
    payload: '{"kind":"Namespace"}'
- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: ConfigMap
    name: linkerd-config
    namespace: linkerd
    disable_cache: false
    field_masks:
      - data
  response: {type: Error, message: not today}
- type: Exchange
  request: |
    !KubernetesListResourceAll
    api_version: v1
    kind: LimitRange
    label_selector: null
    field_selector: null
  response: {type: Success, payload: '{"items":[]}'}
"#;

    #[test]
    fn replays_in_order_and_strictly() {
        let session = Session::parse(TEXT).unwrap();
        let namespace = Query::get("v1", "Namespace", None, "shop");
        assert_eq!(session.ask(&namespace).unwrap(), br#"{"kind":"Namespace"}"#);
        let config = Query::get("v1", "ConfigMap", Some("linkerd"), "linkerd-config").masked(&["data"]);
        assert_eq!(session.ask(&config).unwrap_err().to_string(), "Callback evaluation failure: not today");
        assert_eq!(session.unused().len(), 1);

        let mismatch = session.ask(&namespace).unwrap_err().to_string();
        assert_eq!(
            mismatch,
            "Callback evaluation failure: Replay error: unexpected request. Was expecting KubernetesListResourceAll { \
             api_version: \"v1\", kind: \"LimitRange\", label_selector: None, field_selector: None, field_masks: None }, \
             got KubernetesGetResource { api_version: \"v1\", kind: \"Namespace\", name: \"shop\", namespace: None, \
             disable_cache: false, field_masks: None } instead"
        );
        assert!(session.unused().is_empty(), "a mismatch uses its exchange up");
        let exhausted = session.ask(&namespace).unwrap_err().to_string();
        assert_eq!(exhausted, "Callback evaluation failure: the list of recorded responses is empty");
    }

    #[test]
    fn a_mask_is_part_of_the_question() {
        let session = Session::parse(TEXT).unwrap();
        let masked = Query::get("v1", "Namespace", None, "shop").masked(&["none"]);
        assert!(session.ask(&masked).unwrap_err().to_string().contains("unexpected request"));
    }

    #[test]
    fn says_what_cannot_be_read() {
        let unknown = TEXT.replace("!KubernetesListResourceAll", "!OciManifestDigest");
        assert!(Session::parse(&unknown).unwrap_err().to_string().starts_with("request of exchange 3: "));
        assert!(Session::parse("a: b").unwrap_err().to_string().starts_with("session is not a list of exchanges: "));
    }
}
