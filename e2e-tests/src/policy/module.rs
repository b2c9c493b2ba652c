//! The policy as WebAssembly, run as the policy server runs it: compiled once and such that it can be interrupted, a new instance for
//! every call.

use std::{path::Path, sync::Arc};

use wapc::WapcHost;
use wasmtime_provider::{EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre, wasmtime};

use super::{Policy, PolicyError};
use crate::host::Host;

/// Nobody counts epochs here, so that no deadline comes; but the code that looks for one runs as in the policy server.
const DEADLINES: EpochDeadlines = EpochDeadlines { wapc_init: 2, wapc_func: 2 };

/// Reads a module file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, PolicyError> {
    std::fs::read(path).map_err(|source| PolicyError::Read { path: path.display().to_string(), source })
}

/// A compiled module.
pub struct Module {
    compiled: WasmtimeEngineProviderPre,
}

impl Module {
    /// Reads and compiles a module file.
    ///
    /// # Errors
    /// The file cannot be read, or the module cannot be loaded.
    pub fn open(path: &Path) -> Result<Self, PolicyError> {
        Self::new(&read(path)?)
    }

    /// Compiles a module.
    ///
    /// # Errors
    /// The bytes are no module, or need what the host does not have.
    pub fn new(bytes: &[u8]) -> Result<Self, PolicyError> {
        let load = |error: wasmtime::Error| PolicyError::Load(format!("{error:#}"));
        let mut config = wasmtime::Config::default();
        config.wasm_function_references(true);
        config.epoch_interruption(true);
        let engine = wasmtime::Engine::new(&config).map_err(load)?;
        let module = wasmtime::Module::new(&engine, bytes).map_err(load)?;
        let compiled = WasmtimeEngineProviderBuilder::new()
            .engine(engine)
            .module(module)
            .build_pre()
            .map_err(|error| PolicyError::Load(error.to_string()))?;
        Ok(Self { compiled })
    }

    /// Calls one function of a new instance.
    ///
    /// # Errors
    /// The instance does not start, traps, or returns an error.
    pub fn call(&self, operation: &str, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        let engine = self.compiled.rehydrate(Some(DEADLINES)).map_err(|error| PolicyError::Load(error.to_string()))?;
        let host = Arc::clone(host);
        let callback = move |_id: u64, binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
            host.call(binding, namespace, operation, payload).map_err(Into::into)
        };
        let instance = WapcHost::new(Box::new(engine), Some(Box::new(callback)))?;
        Ok(instance.call(operation, payload)?)
    }

    /// The version of Kubewarden's protocol that the module speaks.
    ///
    /// # Errors
    /// The module does not say.
    pub fn protocol_version(&self) -> Result<String, PolicyError> {
        let answer = self.call("protocol_version", &[], &Arc::new(Host::alone()))?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Policy for Module {
    fn name(&self) -> &'static str {
        "wasm"
    }

    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        self.call("validate", payload, host)
    }

    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
        self.call("validate_settings", payload, &Arc::new(Host::alone()))
    }
}
