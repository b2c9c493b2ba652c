//! Requests with recorded look-ups and the answers to them: what `kwctl run` replays.
//!
//! Each folder of `e2e-tests/sessions` is one: `request.json`, `settings.json`, `session.yml` as kwctl records it, and `answer.json`. They are
//! made from cases of the corpus, whose results are held against Linkerd's; the tests in Rust and those of `kwctl.bats` read the same folders.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    case::Case,
    cluster::Recorder,
    host::Host,
    policy::{Policy, Response},
};

/// One folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The folder's name.
    pub name: String,
    /// The admission request.
    pub request: Value,
    /// The policy's settings.
    pub settings: Value,
    /// The look-ups and what was answered, in kwctl's format.
    pub session: String,
    /// What the policy answers.
    pub answer: Answer,
}

/// What is seen of an answer from outside: the object instead of the patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// Whether the object may be stored.
    pub allowed: bool,
    /// Whether there is a patch.
    pub changed: bool,
    /// The object to store.
    pub object: Value,
    /// What the person who asked is shown.
    pub warnings: Vec<String>,
    /// What goes into the audit log.
    pub audit_annotations: Value,
    /// Why the object may not be stored.
    pub message: Option<String>,
    /// The HTTP status of that.
    pub code: Option<u16>,
}

impl Answer {
    fn of(object: &Value, response: Response) -> Self {
        let after = response.mutated_object.unwrap_or_else(|| object.clone());
        Self {
            allowed: response.accepted,
            changed: after != *object,
            object: after,
            warnings: response.warnings.unwrap_or_default(),
            audit_annotations: response.audit_annotations.map_or(Value::Null, Value::from_iter),
            message: response.message,
            code: response.code,
        }
    }
}

impl Session {
    /// Asks the policy about a case and writes down what it looks up and answers.
    ///
    /// # Errors
    /// The policy gives no answer, or the session cannot be written.
    pub fn record(name: &str, policy: &dyn Policy, case: &Case, settings: &Value) -> Result<Self, Box<dyn std::error::Error>> {
        let (request, settings) = (case.admission_request(), case.settings(settings));
        let recorder = Recorder::new(case.manifests());
        let response = policy.respond(&request, &settings, &Arc::new(Host::new(recorder.clone())))?;
        let answer = Answer::of(&case.request.object, response);
        Ok(Self { name: name.to_owned(), request, settings, session: recorder.session()?, answer })
    }

    /// The folder of sessions.
    #[must_use]
    pub fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions")
    }

    /// All sessions there are, by name.
    ///
    /// # Errors
    /// A folder lacks a file, or a file cannot be read.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(Self::folder())? {
            let entry = entry?;
            let json = |file: &str| -> io::Result<Value> {
                serde_json::from_str(&fs::read_to_string(entry.path().join(file))?).map_err(io::Error::from)
            };
            all.push(Self {
                name: entry.file_name().to_string_lossy().into_owned(),
                request: json("request.json")?,
                settings: json("settings.json")?,
                session: fs::read_to_string(entry.path().join("session.yml"))?,
                answer: serde_json::from_value(json("answer.json")?)?,
            });
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// Writes the folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self) -> io::Result<()> {
        let folder = Self::folder().join(&self.name);
        fs::create_dir_all(&folder)?;
        let json = |file: &str, value: &Value| fs::write(folder.join(file), format!("{}\n", serde_json::to_string_pretty(value)?));
        json("request.json", &self.request)?;
        json("settings.json", &self.settings)?;
        json("answer.json", &serde_json::to_value(&self.answer)?)?;
        fs::write(folder.join("session.yml"), &self.session)
    }
}
