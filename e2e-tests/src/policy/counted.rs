//! How much work a call is: the instructions that an instance executes, which no clock and no other program can change.

use std::{path::Path, sync::Arc};

use wasmtime_provider::wasmtime::{self, Store};

use super::{PolicyError, memory};
use crate::host::Host;

/// A compiled module that counts its instructions.
pub struct Counted {
    engine: wasmtime::Engine,
    module: wasmtime::Module,
}

impl Counted {
    /// Reads and compiles a module file.
    ///
    /// # Errors
    /// The file cannot be read, or the module cannot be loaded.
    pub fn open(path: &Path) -> Result<Self, PolicyError> {
        let load = |error: wasmtime::Error| PolicyError::Load(format!("{error:#}"));
        let bytes = std::fs::read(path).map_err(|source| PolicyError::Read { path: path.display().to_string(), source })?;
        let mut config = wasmtime::Config::default();
        config.wasm_function_references(true);
        config.consume_fuel(true);
        let engine = wasmtime::Engine::new(&config).map_err(load)?;
        let module = wasmtime::Module::new(&engine, bytes).map_err(load)?;
        Ok(Self { engine, module })
    }

    /// Calls one function of a new instance, and gives the number of instructions that were executed for it.
    ///
    /// # Errors
    /// The instance does not start, traps, or returns an error.
    pub fn work(&self, operation: &str, payload: &[u8], host: &Arc<Host>) -> Result<u64, PolicyError> {
        let load = |error: wasmtime::Error| PolicyError::Load(format!("{error:#}"));
        let mut store = Store::new(&self.engine, memory::State::new(operation, payload, host));
        store.set_fuel(u64::MAX).map_err(load)?;
        memory::call(&mut store, &self.module).map_err(load)?;
        Ok(u64::MAX.saturating_sub(store.get_fuel().map_err(load)?))
    }
}
