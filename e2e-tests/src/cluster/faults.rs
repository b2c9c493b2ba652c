//! Lets single questions fail.

use super::{Answer, Cluster};
use crate::query::Query;

type Fault = dyn Fn(&Query) -> Option<Answer> + Send + Sync;

/// A cluster some of whose answers are replaced.
pub struct Faults {
    inner: Box<dyn Cluster>,
    fault: Box<Fault>,
}

impl Faults {
    /// Where `fault` has an answer it is given, else that of `inner`.
    #[must_use]
    pub fn new(inner: impl Cluster + 'static, fault: impl Fn(&Query) -> Option<Answer> + Send + Sync + 'static) -> Self {
        Self { inner: Box::new(inner), fault: Box::new(fault) }
    }
}

impl Cluster for Faults {
    fn ask(&self, query: &Query) -> Answer {
        (self.fault)(query).unwrap_or_else(|| self.inner.ask(query))
    }
}
