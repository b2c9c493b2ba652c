//! Resources of the injected containers.
//!
//! Source: `charts/partials/templates/_resources.tpl` of linkerd/linkerd2.

use crate::gather;
use crate::values::Resources;
use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The quantities as they were given; none where none is set.
pub(super) fn resources(from: &Resources) -> Option<ResourceRequirements> {
    let rows = [("cpu", &from.cpu), ("memory", &from.memory), ("ephemeral-storage", &from.ephemeral_storage)];
    let set = |of: fn(&crate::values::Constraint) -> &String| {
        let pairs = rows.iter().filter(|(_, c)| !of(c).is_empty()).map(|(name, c)| ((*name).to_owned(), Quantity(of(c).clone())));
        let map = gather::map(pairs);
        (!map.is_empty()).then_some(map)
    };
    let requirements =
        ResourceRequirements { limits: set(|c| &c.limit), requests: set(|c| &c.request), ..ResourceRequirements::default() };
    (requirements != ResourceRequirements::default()).then_some(requirements)
}
