//! Resources of the injected containers.
//!
//! Source: `charts/partials/templates/_resources.tpl` of linkerd/linkerd2.

use super::api::{object, unless_empty};
use crate::values::{Constraint, Resources};
use serde_json::Value;

/// The quantities as they were given; none where none is set.
pub(super) fn resources(from: &Resources) -> Value {
    let rows = [("cpu", &from.cpu), ("memory", &from.memory), ("ephemeral-storage", &from.ephemeral_storage)];
    let set = |of: fn(&Constraint) -> &String| {
        let amount = |constraint| Some(of(constraint).as_str()).filter(|amount| !amount.is_empty());
        unless_empty(object(rows.map(|(name, constraint)| (name, amount(constraint).into()))))
    };
    unless_empty(object([("limits", set(|c| &c.limit)), ("requests", set(|c| &c.request))]))
}
