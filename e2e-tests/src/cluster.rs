//! Where the answers about the cluster come from.
//!
//! [`Manifests`] holds objects, [`Session`] a recording of kwctl's. Around either go [`Recorder`], which writes such a
//! recording, [`Faults`], which lets single questions fail, [`Asked`], which remembers what was asked, and
//! [`Cached`], which remembers what was answered.

use std::sync::Arc;

use crate::{query::Query, refusal::Refusal};

mod asked;
mod cached;
mod faults;
mod manifests;
mod masks;
mod recorder;
mod selector;
mod session;

pub use self::{
    asked::{Asked, LookUp},
    cached::Cached,
    faults::Faults,
    manifests::{Manifests, ReadError},
    recorder::{RecordError, Recorder},
    session::{Exchange, Response, Session, SessionError},
};

/// The JSON text of an answer, or why there is none.
pub type Answer = Result<Vec<u8>, Refusal>;

/// Somebody who answers questions about a cluster.
pub trait Cluster: Send + Sync {
    /// Answers one question.
    ///
    /// # Errors
    /// The cluster's refusal.
    fn ask(&self, query: &Query) -> Answer;
}

impl<C: Cluster + ?Sized> Cluster for Arc<C> {
    fn ask(&self, query: &Query) -> Answer {
        self.as_ref().ask(query)
    }
}

impl<C: Cluster + ?Sized> Cluster for Box<C> {
    fn ask(&self, query: &Query) -> Answer {
        self.as_ref().ask(query)
    }
}

/// Every question fails as it does in a policy server that reaches no cluster.
#[derive(Debug, Clone, Copy)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn ask(&self, _query: &Query) -> Answer {
        Err(Refusal::no_cluster())
    }
}
