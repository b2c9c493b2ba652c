//! What the host is answered. The only code that words an answer.
//!
//! In: an [`Outcome`]. Out: the bytes of a validation response. Nothing in it shows a payload, an environment value or a PEM.

use crate::decide::SkipReason;
use crate::gather;
use crate::merge::Injected;
use crate::settings::{OnError, SettingsErrors, Source};
use crate::warning::{Warning, lines, parted, sentences};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// An object that is none of this policy's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOurs {
    /// Its kind is neither injected nor annotated.
    Kind,
    /// The request is about a part of an object (D24).
    SubResource,
    /// It is neither created nor, where that is looked at, changed.
    Operation,
    /// The request has no object.
    NoObject,
    /// It is a workload, and the settings leave those unread.
    WorkloadsIgnored,
    /// It is a workload that a controller made: nobody would read what is said of it.
    OwnedWorkload,
}

impl NotOurs {
    /// Every case.
    pub const ALL: &[NotOurs] = &[
        NotOurs::Kind,
        NotOurs::SubResource,
        NotOurs::Operation,
        NotOurs::NoObject,
        NotOurs::WorkloadsIgnored,
        NotOurs::OwnedWorkload,
    ];

    /// The reason for machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NotOurs::Kind => "kind_not_handled",
            NotOurs::SubResource => "subresource_not_handled",
            NotOurs::Operation => "operation_not_handled",
            NotOurs::NoObject => "no_object",
            NotOurs::WorkloadsIgnored => "workloads_ignored",
            NotOurs::OwnedWorkload => "owned_workload_not_handled",
        }
    }
}

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotOurs::Kind => "this kind is not handled",
            NotOurs::SubResource => "sub-resources are not handled",
            NotOurs::Operation => "this operation is not handled",
            NotOurs::NoObject => "the request has no object",
            NotOurs::WorkloadsIgnored => "the settings leave workloads unread",
            NotOurs::OwnedWorkload => "workloads that a controller made are not handled",
        })
    }
}

/// How a request ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The pod was injected.
    Injected {
        /// The pod with its sidecar; `None` when it came in just so.
        object: Option<Injected>,
        /// Who asked for it.
        asked_by: AskedBy,
        /// Version of the injected proxy.
        proxy_version: String,
        /// Where its configuration comes from.
        source: Source,
        /// What a person should know.
        warnings: Vec<Warning>,
    },
    /// The object stays out of the mesh, and got its opaque ports.
    Annotated {
        /// The object with its annotation; `None` when it came in just so.
        object: Option<Value>,
        /// Why it is not injected.
        reasons: Vec<SkipReason>,
        /// What a person should know.
        warnings: Vec<Warning>,
    },
    /// The object stays out of the mesh, unchanged but for what an earlier call had put in.
    Skipped {
        /// The object without what an earlier call had put in; `None` when it had put in nothing.
        object: Option<Value>,
        /// Why it is not injected.
        reasons: Vec<SkipReason>,
        /// What a person should know.
        warnings: Vec<Warning>,
    },
    /// A workload, of whose pods its author is told in advance; it stays as it is.
    Checked {
        /// Why its pods would not be injected; none where they would.
        reasons: Vec<SkipReason>,
        /// What a person should know.
        warnings: Vec<Warning>,
    },
    /// The object is accepted unread.
    NotOurs(NotOurs),
    /// The object has annotations that cannot be used, and the settings say to reject it.
    Invalid(Vec<Warning>),
    /// The request could not be judged.
    Failed {
        /// What went wrong, where, why, and what to do.
        error: String,
        /// What the settings say of it.
        on_error: OnError,
    },
}

/// Who asked for an injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    /// The pod itself.
    Pod,
    /// Its namespace, for all its pods.
    Namespace,
}

impl AskedBy {
    /// The reason for machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            AskedBy::Pod => "enabled_at_workload",
            AskedBy::Namespace => "enabled_at_namespace",
        }
    }
}

impl Outcome {
    /// What was decided, for machines: the reason code, or several.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Outcome::Injected { asked_by, .. } => asked_by.as_str().to_owned(),
            Outcome::Checked { reasons, .. } if reasons.is_empty() => "workload_checked".to_owned(),
            Outcome::Annotated { reasons, .. } | Outcome::Skipped { reasons, .. } | Outcome::Checked { reasons, .. } => {
                let texts: Vec<&str> = reasons.iter().map(|r| r.as_str()).collect();
                texts.join(",")
            }
            Outcome::NotOurs(why) => why.as_str().to_owned(),
            Outcome::Invalid(_) => "invalid_annotation".to_owned(),
            Outcome::Failed { .. } => "error".to_owned(),
        }
    }
}

#[derive(Default, Serialize)]
struct ValidationResponse {
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutated_object: Option<Injected>,
    audit_annotations: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The answer to an outcome.
#[must_use]
pub fn respond(outcome: Outcome) -> Vec<u8> {
    let injected = matches!(outcome, Outcome::Injected { .. });
    let mut response = ValidationResponse { accepted: true, ..ValidationResponse::default() };
    let mut audit = gather::map([("injected", injected.to_string()), ("reason", outcome.reason())]);
    let (object, warnings) = match outcome {
        Outcome::Injected { object, proxy_version, source, warnings, .. } => {
            audit.insert("proxy-version", proxy_version);
            audit.insert("config-source", source.as_str().to_owned());
            (object, warnings)
        }
        Outcome::Annotated { object, warnings, .. } | Outcome::Skipped { object, warnings, .. } => {
            (object.map(Injected::from), warnings)
        }
        Outcome::Checked { warnings, .. } => (None, warnings),
        Outcome::NotOurs(_) => (None, Vec::new()),
        Outcome::Invalid(warnings) => {
            response.accepted = false;
            response.code = Some(422);
            response.message = Some(format!("linkerd-injector-policy: {}", sentences(&warnings).join("; ")));
            (None, Vec::new())
        }
        Outcome::Failed { error, on_error } => {
            match on_error {
                OnError::Reject => {
                    response.accepted = false;
                    response.code = Some(500);
                    response.message = Some(format!("linkerd-injector-policy: {error}"));
                }
                OnError::Skip => response.warnings.extend(parted(&format!("not injected: {error}"))),
            }
            (None, Vec::new())
        }
    };
    response.warnings.extend(lines(&warnings));
    response.mutated_object = object;
    response.audit_annotations = audit;
    let answer =
        json(&response, b"{\"accepted\":false,\"code\":500,\"message\":\"linkerd-injector-policy: the answer cannot be written\"}");
    crate::leave(response);
    answer
}

/// The answer to settings.
#[must_use]
pub fn respond_to_settings(checked: &Result<(), SettingsErrors>) -> Vec<u8> {
    let response = kubewarden_policy_sdk::settings::SettingsValidationResponse {
        valid: checked.is_ok(),
        message: checked.as_ref().err().map(ToString::to_string),
    };
    json(&response, b"{\"valid\":false,\"message\":\"the answer cannot be written\"}")
}

/// The bytes that an injected pod has, about: a buffer that has to grow is copied each time.
const ROOM: usize = 16 * 1024;

fn json(response: &impl Serialize, otherwise: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROOM);
    serde_json::to_writer(&mut bytes, response).map_or_else(|_| otherwise.to_vec(), |()| bytes)
}

#[cfg(test)]
mod tests;
