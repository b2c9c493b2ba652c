//! Linkerd's proxy injector as one WebAssembly admission policy for Kubewarden.
//!
//! ```text
//!    {request, settings} from the host                     only cluster.rs calls the host
//!             │ lib.rs  validate()                         cluster: namespace() values() trust_anchors()
//!             ├─ settings::Settings                                 owner_references() limit_ranges()
//!             ├─ request::Request ── object: Value (never rebuilt from a type)    │ plain structs
//!             ▼                                                                   ▼
//!    merge::Earlier  ── what an earlier call left; the object without it is the application view, on which all else depends
//!             ▼
//!    workload::Workload<'_>  (read-only view) ─────────────────────────► decide: the reasons to skip
//!    template::Template<'_>  (the pods to come of a workload: told, never written)
//!             │  none                                   │ some
//!             ▼                                         ▼
//!    overrides::apply(Values, annotations)              opaque_ports: the annotation that is due
//!             │ Values + Vec<Warning>, one table row an annotation
//!             │ limit_range::fit, pod_resources::fit    │
//!             │ openshift::run_as                       │
//!             ▼                                         │
//!    render::pod_patch(&Values, &Workload) ► PodPatch   │   one file a rendered object, struct literals
//!             ▼                                         ▼
//!    checks::of_injected · checks::of_skipped ► Vec<Warning>   one table row a check
//!             ▼                                         ▼
//!    merge::apply · merge::reapply · merge::losses          the only code that writes the object
//!             ▼
//!    response::respond(Outcome)                             the only code that words an answer
//! ```
//!
//! Invariants: (1) only `merge` writes the object; nothing of the user's is removed or changed, but for what bears a name of ours,
//! which gives way, and annotations that the settings forbid, which are taken off what is injected; a warning names what is lost by it.
//! (2) Taking away what we added gives back the input. (3) The four laws of a later call: it changes nothing where nobody did; whether an edit by others comes
//! before or after a call makes no difference; what others changed stays, or a warning names it; what we no longer want goes.
//! (4) Same input, same bytes: no hash maps on the way out, no clock, no randomness. (5) Only `cluster` calls the host, in one order.
//! (6) `validate` never panics and never fails: every failure has a chosen answer.

pub mod annotation;
pub mod checks;
pub mod cluster;
pub mod decide;
mod evaluate;
mod gather;
mod limit_range;
mod merge;
mod opaque_ports;
mod openshift;
pub mod overrides;
mod owner;
pub mod parse;
mod pem;
pub mod permitted;
mod pod_resources;
mod pod_sum;
mod render;
mod request;
pub mod response;
pub mod settings;
mod template;
pub mod values;
pub mod warning;
mod workload;
mod yaml;

#[cfg(target_arch = "wasm32")]
mod guest;

pub use cluster::HostCall;

use request::Payload;
use response::{Outcome, respond, respond_to_settings};
use serde_json::Value;
use settings::{OnError, Settings};

/// Answers one admission request: `{"request": …, "settings": …}` in, a `ValidationResponse` as JSON out.
#[must_use]
pub fn validate(payload: &[u8], host: HostCall<'_>) -> Vec<u8> {
    let cluster = cluster::Cluster::new(host);
    let outcome = match Payload::read(payload) {
        Err(error) => Outcome::Failed { error: error.to_string(), on_error: on_error_of(payload) },
        Ok(Payload { request, settings }) => match Settings::read(settings) {
            Err(errors) => {
                Outcome::Failed { error: format!("the settings cannot be used: {errors}"), on_error: OnError::default() }
            }
            Ok(settings) => {
                let outcome = evaluate::evaluate(request, &settings, &cluster);
                leave(settings);
                outcome
            }
        },
    };
    respond(outcome)
}

/// Leaves a value that is large and needed no more. An instance of the module lives for one call, and its memory goes with it: there,
/// giving back the parts of a tree one by one is work for nobody.
pub(crate) fn leave<T>(value: T) {
    if cfg!(target_arch = "wasm32") {
        std::mem::forget(value);
    }
}

/// Checks settings: the settings object in, a `SettingsValidationResponse` as JSON out.
#[must_use]
pub fn validate_settings(payload: &[u8]) -> Vec<u8> {
    let checked = match serde_json::from_slice::<Value>(payload) {
        Ok(settings) => Settings::validate(&settings),
        Err(_) => Err(settings::SettingsErrors(vec![settings::SettingsError::NotAnObject])),
    };
    respond_to_settings(&checked)
}

/// What the settings say of errors, where the request beside them cannot be read.
fn on_error_of(payload: &[u8]) -> OnError {
    #[derive(serde::Deserialize)]
    struct Beside {
        settings: Value,
    }
    let beside = serde_json::from_slice::<Beside>(payload).ok();
    beside.and_then(|b| Settings::read(b.settings).ok()).map_or_else(OnError::default, |s| s.on_error)
}
