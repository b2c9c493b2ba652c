//! The host's side of the waPC contract: which call is answered, by whom, and what is refused before anybody is asked.
//!
//! The order of checks is that of Kubewarden's `host_callback`: binding, host capability, operation, payload, resource,
//! and only then the cluster.

use std::sync::Mutex;

use crate::{
    cluster::{Cluster, NoCluster},
    query::Query,
    refusal::Refusal,
};

mod grants;
mod log;

pub use self::{
    grants::Grants,
    log::{Level, LogLine},
};

/// What happens to the lines that a policy logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logs {
    /// Lines at this level or above go to stderr; all are kept.
    Stderr(Level),
    /// All are kept, none is printed.
    Kept,
    /// None is read.
    Dropped,
}

/// A host for one policy: a cluster, what the policy may ask of it, and where its logs go.
pub struct Host {
    cluster: Box<dyn Cluster>,
    grants: Grants,
    logs: Logs,
    lines: Mutex<Vec<LogLine>>,
}

impl Host {
    /// A host that answers from `cluster`, grants everything and keeps the logs.
    #[must_use]
    pub fn new(cluster: impl Cluster + 'static) -> Self {
        Self { cluster: Box::new(cluster), grants: Grants::default(), logs: Logs::Kept, lines: Mutex::new(Vec::new()) }
    }

    /// A host without a cluster.
    #[must_use]
    pub fn alone() -> Self {
        Self::new(NoCluster)
    }

    /// The same host with other logging.
    #[must_use]
    pub fn with_logs(mut self, logs: Logs) -> Self {
        self.logs = logs;
        self
    }

    /// The same host that grants no more than `grants`.
    #[must_use]
    pub fn with_grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }

    /// What was logged so far, in order.
    #[must_use]
    pub fn logged(&self) -> Vec<LogLine> {
        self.lines.lock().map(|lines| lines.clone()).unwrap_or_default()
    }

    /// Answers one call of the policy.
    ///
    /// # Errors
    /// Why not; as text this is what waPC hands to the guest.
    pub fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, Refusal> {
        if binding != "kubewarden" {
            return Err(Refusal::Denied(format!("unknown binding: {binding}")));
        }
        if namespace == "tracing" {
            return if operation == "log" {
                self.log(payload);
                Ok(Vec::new())
            } else {
                Err(unknown_operation(operation))
            };
        }
        self.grants.check_capability(&format!("{namespace}/{operation}"))?;
        if namespace != "kubernetes" {
            return Err(Refusal::Denied(format!("unknown namespace: {namespace}")));
        }
        let query = Query::parse(operation, payload)
            .ok_or_else(|| unknown_operation(operation))?
            .map_err(|error| Refusal::Denied(error.to_string()))?;
        if let Some((api_version, kind)) = query.resource() {
            self.grants.check_resource(api_version, kind)?;
        }
        self.cluster.ask(&query)
    }

    fn log(&self, payload: &[u8]) {
        if self.logs == Logs::Dropped {
            return;
        }
        let line = LogLine::parse(payload);
        if let Logs::Stderr(least) = self.logs
            && line.level >= least
        {
            eprintln!("{line}");
        }
        if let Ok(mut lines) = self.lines.lock() {
            lines.push(line);
        }
    }
}

fn unknown_operation(operation: &str) -> Refusal {
    Refusal::Denied(format!("unknown operation: {operation}"))
}

#[cfg(test)]
mod tests;
