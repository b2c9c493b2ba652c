//! A workload is rendered as its pods would be, for what there is to say of them; nothing of it changes.
//!
//! What a pod's answer says reaches the controller that makes it. The author of its template hears it here.

use super::decision::{Decision, Evaluation};
use crate::annotation as key;
use crate::cluster::Cluster;
use crate::merge;
use crate::response::{NotOurs, Outcome};
use crate::settings::Settings;
use crate::template::{Template, TemplateKind};
use crate::warning::{MAX_CHARS, Place, Warning};
use serde_json::Value;

/// What there is to say to the author of a workload.
pub(super) fn check(
    kind: &'static TemplateKind,
    mut workload: Value,
    namespace: Option<&str>,
    settings: &Settings,
    cluster: &Cluster<'_>,
) -> Outcome {
    let silent = || Outcome::Checked { reasons: Vec::new(), warnings: Vec::new() };
    let template = kind.template_mut(&mut workload);
    let hidden = template.map(|template| merge::hide(template, None, &settings.permitted)).unwrap_or_default();
    let template = match Template::read(kind, &workload) {
        Ok(template) => template,
        // The API server has its own word to say of what is no template; of a number among texts, another one than people understand.
        Err(error) => {
            let told = error.of_text_at(&kind.place(), MAX_CHARS.saturating_sub(kind.kind.len()).saturating_sub(": ".len()));
            let told = told.map(|sentence| Warning::plain(Place::Workload(kind.kind), sentence));
            return Outcome::Checked { reasons: Vec::new(), warnings: told.into_iter().collect() };
        }
    };
    if template.is_owned() {
        return Outcome::NotOurs(NotOurs::OwnedWorkload);
    }
    let Some(namespace) = namespace.or_else(|| template.namespace()) else { return silent() };
    let evaluation = Evaluation { settings, cluster, namespace, object: template.pod, template: Some(&template), hidden: &hidden };
    match evaluation.decide() {
        Ok(Decision::Out { reasons, mut warnings, namespace, .. }) => {
            let inherited = namespace.as_ref().and_then(|namespace| namespace.annotations.get(key::OPAQUE_PORTS));
            warnings.extend(hidden.forbidden_ports(inherited.map(String::as_str)));
            Outcome::Checked { reasons, warnings }
        }
        Ok(Decision::In { warnings, .. }) => Outcome::Checked { reasons: Vec::new(), warnings },
        Err(error) => {
            cluster.log("warning", &format!("{} not checked: {error}", kind.kind));
            // Where the namespace cannot be read, nobody knows whether anybody asked for the mesh.
            let asked = evaluation.asks_itself() || !error.is_about("Namespace");
            let sentence = format!("its pods cannot be injected: {error}");
            let warnings = asked.then(|| Warning::plain(Place::Workload(kind.kind), sentence)).into_iter().collect();
            Outcome::Checked { reasons: Vec::new(), warnings }
        }
    }
}
