//! Writes down what was asked and answered, as `kwctl run --record-host-capabilities-interactions` does.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use thiserror::Error;

use super::{Answer, Cluster, Exchange, Response};
use crate::{query::Query, refusal::Refusal};

/// A session that cannot be written.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file cannot be written.
    #[error("cannot write session: {0}")]
    Write(#[from] std::io::Error),
    /// A question cannot be written as YAML.
    #[error("cannot write exchange: {0}")]
    Format(#[from] serde_norway::Error),
}

/// A cluster that passes every question on and records the exchange. Clones share the record.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<dyn Cluster>,
    record: Arc<Mutex<Vec<(Query, Response)>>>,
}

impl Recorder {
    /// Records what `inner` is asked and answers.
    #[must_use]
    pub fn new(inner: impl Cluster + 'static) -> Self {
        Self { inner: Arc::new(inner), record: Arc::default() }
    }

    /// The text of the session file so far.
    ///
    /// # Errors
    /// A question cannot be written as YAML.
    pub fn session(&self) -> Result<String, RecordError> {
        let record = self.record.lock().map(|record| record.clone()).unwrap_or_default();
        let exchanges = record
            .into_iter()
            .map(|(query, response)| Ok(Exchange { request: serde_norway::to_string(&query)?, response }))
            .collect::<Result<Vec<_>, serde_norway::Error>>()?;
        Ok(serde_norway::to_string(&exchanges)?)
    }

    /// Writes the session so far to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), RecordError> {
        Ok(std::fs::write(path, self.session()?)?)
    }
}

impl Cluster for Recorder {
    fn ask(&self, query: &Query) -> Answer {
        let answer = self.inner.ask(query);
        let response = match &answer {
            Ok(payload) => Some(Response::Success { payload: String::from_utf8_lossy(payload).into_owned() }),
            // The host keeps the first line of an error's chain and adds the rest when it answers.
            Err(Refusal::Failed(text)) => {
                let message = text.split_once("\n\nCaused by:").map_or(text.as_str(), |(first, _)| first);
                Some(Response::Error { message: message.to_owned() })
            }
            // What the host refuses by itself never reaches the cluster, and so no record.
            Err(Refusal::Denied(_)) => None,
        };
        if let (Some(response), Ok(mut record)) = (response, self.record.lock()) {
            record.push((query.clone(), response));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::{Manifests, Session};

    #[test]
    fn what_is_recorded_replays() {
        let objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})];
        let recorder = Recorder::new(Manifests::new(objects));
        let queries = [
            Query::get("v1", "Namespace", None, "shop"),
            Query::get("v1", "ConfigMap", Some("linkerd"), "linkerd-config").masked(&["data"]),
        ];
        let answers: Vec<Answer> = queries.iter().map(|query| recorder.ask(query)).collect();
        let text = recorder.session().unwrap();
        assert_eq!(
            text,
            "- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: Namespace
    name: shop
    namespace: null
    disable_cache: false
    field_masks: null
  response:
    type: Success
    payload: '{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"shop\"}}'
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
  response:
    type: Error
    message: Cannot find v1/ConfigMap named 'linkerd-config' inside of namespace 'Some(\"linkerd\")'
"
        );
        let session = Session::parse(&text).unwrap();
        for (query, answer) in queries.iter().zip(answers) {
            assert_eq!(session.ask(query), answer);
        }
        assert!(session.unused().is_empty());
    }
}
