//! Readers of the values that people write into annotations, Helm values and environment variables.
//!
//! Text comes in; a value or one short phrase that says what was expected goes out. Nothing is logged and no default
//! is chosen here: the caller knows the annotation's name, what holds instead, and who is to be told. Each reader
//! follows the program that reads the value in the end: Linkerd's injector and the Go library it calls, the proxy,
//! `linkerd-init`, the API server or a container runtime.

pub mod boolean;
pub mod duration;
pub mod env_entry;
pub mod image;
pub mod integer;
pub mod network;
pub mod ports;
pub mod proxy_env;
pub mod quantity;
pub mod ratio;
