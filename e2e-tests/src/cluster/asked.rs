//! Remembers what was asked, so that a test can assert the order of look-ups.

use std::sync::{Arc, Mutex};

use super::{Answer, Cluster};
use crate::query::Query;

/// One look-up: operation, kind, and the name of a get.
pub type LookUp = (String, String, Option<String>);

/// A cluster that passes every question on and remembers it. Clones share the memory.
#[derive(Clone)]
pub struct Asked {
    inner: Arc<dyn Cluster>,
    queries: Arc<Mutex<Vec<Query>>>,
}

impl Asked {
    /// Remembers what `inner` is asked.
    #[must_use]
    pub fn new(inner: impl Cluster + 'static) -> Self {
        Self { inner: Arc::new(inner), queries: Arc::default() }
    }

    /// All questions, in order.
    #[must_use]
    pub fn queries(&self) -> Vec<Query> {
        self.queries.lock().map(|queries| queries.clone()).unwrap_or_default()
    }

    /// All questions in short, in order.
    #[must_use]
    pub fn look_ups(&self) -> Vec<LookUp> {
        let short = |query: &Query| {
            let kind = query.resource().map_or("", |(_, kind)| kind);
            (query.operation().to_owned(), kind.to_owned(), query.name().map(str::to_owned))
        };
        self.queries().iter().map(short).collect()
    }

    /// Forgets what was asked so far.
    pub fn forget(&self) {
        if let Ok(mut queries) = self.queries.lock() {
            queries.clear();
        }
    }
}

impl Cluster for Asked {
    fn ask(&self, query: &Query) -> Answer {
        if let Ok(mut queries) = self.queries.lock() {
            queries.push(query.clone());
        }
        self.inner.ask(query)
    }
}
