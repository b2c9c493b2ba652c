//! What a call costs, counted rather than timed: memory, and the instructions that were run.
//!
//! waPC's host keeps its instances to itself, so this one speaks waPC's protocol with wasmtime directly, in a few lines.

use std::{path::Path, sync::Arc};

use wasmtime_provider::{
    wasmtime::{self, Caller, Engine, Extern, Linker, Memory, Store},
    wasmtime_wasi::{WasiCtxBuilder, p1},
};

use super::{PolicyError, module};
use crate::host::Host;

/// Bytes of a page of WebAssembly's memory.
const PAGE: u64 = 65_536;

/// What a call of a new instance costs. The same call costs the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of the instance's memory after the call.
    pub memory: u64,
    /// Instructions of WebAssembly that were run, as wasmtime counts them. A copy or fill of many bytes is one.
    pub instructions: u64,
}

/// A module compiled such that its instructions are counted.
pub struct Metered(wasmtime::Module);

/// What an instance's functions work on.
struct State {
    wasi: p1::WasiP1Ctx,
    operation: Vec<u8>,
    payload: Vec<u8>,
    host: Arc<Host>,
    /// What the host answered last, or why not.
    heard: Result<Vec<u8>, Vec<u8>>,
    /// The error that the guest reported.
    error: Option<String>,
}

impl Metered {
    /// Reads and compiles a module file.
    ///
    /// # Errors
    /// The file cannot be read, or the module cannot be loaded.
    pub fn open(path: &Path) -> Result<Self, PolicyError> {
        Self::new(&module::read(path)?)
    }

    /// Compiles a module.
    ///
    /// # Errors
    /// The bytes are no module.
    pub fn new(bytes: &[u8]) -> Result<Self, PolicyError> {
        let mut config = wasmtime::Config::default();
        config.wasm_function_references(true);
        config.consume_fuel(true);
        Engine::new(&config).and_then(|engine| wasmtime::Module::new(&engine, bytes)).map(Self).map_err(load)
    }

    /// Calls one function of a new instance, and says what that cost.
    ///
    /// # Errors
    /// The instance does not start, traps, or returns an error.
    pub fn cost(&self, operation: &str, payload: &[u8], host: &Arc<Host>) -> Result<Cost, PolicyError> {
        let state = State {
            wasi: WasiCtxBuilder::new().inherit_stdio().build_p1(),
            operation: operation.as_bytes().to_vec(),
            payload: payload.to_vec(),
            host: Arc::clone(host),
            heard: Ok(Vec::new()),
            error: None,
        };
        let mut store = Store::new(self.0.engine(), state);
        call(&mut store, &self.0).map_err(load)
    }
}

fn load(error: wasmtime::Error) -> PolicyError {
    PolicyError::Load(format!("{error:#}"))
}

fn call(store: &mut Store<State>, module: &wasmtime::Module) -> wasmtime::Result<Cost> {
    store.set_fuel(u64::MAX)?;
    let instance = linker(store.engine())?.instantiate(&mut *store, module)?;
    for start in ["_start", "wapc_init"] {
        if let Some(start) = instance.get_func(&mut *store, start) {
            start.typed::<(), ()>(&*store)?.call(&mut *store, ())?;
        }
    }
    let guest = instance.get_typed_func::<(i32, i32), i32>(&mut *store, "__guest_call")?;
    let lengths = (length(&store.data().operation)?, length(&store.data().payload)?);
    if guest.call(&mut *store, lengths)? == 0 {
        let error = store.data_mut().error.take();
        return Err(wasmtime::Error::msg(error.unwrap_or_else(|| "the guest does not say why it fails".to_owned())));
    }
    let memory = instance.get_memory(&mut *store, "memory").ok_or_else(|| wasmtime::Error::msg("the guest has no memory"))?;
    let instructions = u64::MAX.saturating_sub(store.get_fuel()?);
    Ok(Cost { memory: memory.size(&*store).saturating_mul(PAGE), instructions })
}

/// The functions of waPC's host that guests of the SDK import.
fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker_sync(&mut linker, |state: &mut State| &mut state.wasi)?;
    linker.func_wrap("wapc", "__guest_request", |mut guest: Caller<'_, State>, operation: i32, payload: i32| {
        let (name, message) = (guest.data().operation.clone(), guest.data().payload.clone());
        write(&mut guest, operation, &name)?;
        write(&mut guest, payload, &message)
    })?;
    linker.func_wrap("wapc", "__guest_response", |_: Caller<'_, State>, _: i32, _: i32| ())?;
    linker.func_wrap("wapc", "__guest_error", |mut guest: Caller<'_, State>, at: i32, length: i32| {
        let error = text(&mut guest, (at, length))?;
        guest.data_mut().error = Some(error);
        wasmtime::Result::Ok(())
    })?;
    linker.func_wrap("wapc", "__console_log", |_: Caller<'_, State>, _: i32, _: i32| ())?;
    linker.func_wrap("wapc", "__host_call", host_call)?;
    linker.func_wrap("wapc", "__host_response_len", |guest: Caller<'_, State>| {
        guest.data().heard.as_ref().map_or(Ok(0), |heard| length(heard))
    })?;
    linker.func_wrap("wapc", "__host_response", |mut guest: Caller<'_, State>, at: i32| {
        let heard = guest.data().heard.clone();
        heard.map_or(Ok(()), |heard| write(&mut guest, at, &heard))
    })?;
    linker.func_wrap("wapc", "__host_error_len", |guest: Caller<'_, State>| {
        guest.data().heard.as_ref().map_or_else(|error| length(error), |_| Ok(0))
    })?;
    linker.func_wrap("wapc", "__host_error", |mut guest: Caller<'_, State>, at: i32| {
        let heard = guest.data().heard.clone();
        heard.map_or_else(|error| write(&mut guest, at, &error), |_| Ok(()))
    })?;
    Ok(linker)
}

/// Each pair of numbers is where a text begins and how long it is.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of waPC's protocol")]
fn host_call(
    mut guest: Caller<'_, State>,
    binding: i32,
    binding_length: i32,
    namespace: i32,
    namespace_length: i32,
    operation: i32,
    operation_length: i32,
    payload: i32,
    payload_length: i32,
) -> wasmtime::Result<i32> {
    let binding = text(&mut guest, (binding, binding_length))?;
    let namespace = text(&mut guest, (namespace, namespace_length))?;
    let operation = text(&mut guest, (operation, operation_length))?;
    let payload = read(&mut guest, (payload, payload_length))?;
    let answer = guest.data().host.call(&binding, &namespace, &operation, &payload);
    guest.data_mut().heard = answer.map_err(|refusal| refusal.to_string().into_bytes());
    Ok(i32::from(guest.data().heard.is_ok()))
}

fn memory(guest: &mut Caller<'_, State>) -> wasmtime::Result<Memory> {
    guest.get_export("memory").and_then(Extern::into_memory).ok_or_else(|| wasmtime::Error::msg("the guest has no memory"))
}

fn read(guest: &mut Caller<'_, State>, (at, length): (i32, i32)) -> wasmtime::Result<Vec<u8>> {
    let memory = memory(guest)?;
    let mut bytes = vec![0; usize::try_from(length)?];
    memory.read(&*guest, usize::try_from(at)?, &mut bytes)?;
    Ok(bytes)
}

fn text(guest: &mut Caller<'_, State>, place: (i32, i32)) -> wasmtime::Result<String> {
    Ok(String::from_utf8(read(guest, place)?)?)
}

fn write(guest: &mut Caller<'_, State>, at: i32, bytes: &[u8]) -> wasmtime::Result<()> {
    let memory = memory(guest)?;
    Ok(memory.write(&mut *guest, usize::try_from(at)?, bytes)?)
}

fn length(bytes: &[u8]) -> wasmtime::Result<i32> {
    Ok(i32::try_from(bytes.len())?)
}
