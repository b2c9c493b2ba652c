//! What people reported of sidecar injectors, each with the pod that shows it and what becomes of it here.
//!
//! A report that another test shows already has a line that names it. Natively, and through the module where it is built.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "field_reports/configuration.rs"]
mod configuration;
#[path = "field_reports/eligibility.rs"]
mod eligibility;
#[path = "field_reports/fields.rs"]
mod fields;
#[path = "field_reports/order.rs"]
mod order;
#[path = "field_reports/ports.rs"]
mod ports;
#[path = "field_reports/resources.rs"]
mod resources;
#[path = "field_reports/security.rs"]
mod security;

use std::sync::LazyLock;

use e2e_tests::{
    artefacts,
    ask::{Answer, Ask},
    policy::{Module, Native},
};
use serde_json::{Value, json};

static MODULE: LazyLock<Option<Module>> =
    LazyLock::new(|| artefacts::module_or_skip("field_reports (wasm)").map(|path| Module::open(&path).unwrap()));

/// The policy's answer, which is the same natively and through the module.
fn answer(ask: &Ask) -> Answer {
    let native = ask.of(&Native).unwrap();
    if let Some(module) = MODULE.as_ref() {
        let wasm = ask.of(module).unwrap();
        assert_eq!((&wasm.response, &wasm.object), (&native.response, &native.object));
    }
    native
}

/// The answer to a pod that asks for the mesh, and gets it.
fn injected(ask: &Ask) -> Answer {
    let answer = answer(ask);
    assert!(answer.is_injected(), "{:?}", answer.response);
    answer
}

/// A pod that asks for the mesh, with these annotations and fields.
fn meshed(annotations: Value, spec: Value) -> Ask {
    Ask::meshed(annotations, spec)
}

/// One container `app` with these fields.
fn app(fields: Value) -> Value {
    let mut container = json!({"name": "app", "image": "app"});
    for (key, value) in fields.as_object().unwrap() {
        container[key] = value.clone();
    }
    json!({"containers": [container]})
}

fn not_native() -> Value {
    json!({"proxy": {"nativeSidecar": false}})
}

fn cni() -> Value {
    json!({"cniEnabled": true})
}

fn enabled() -> Value {
    json!({"linkerd.io/inject": "enabled"})
}

/// Annotations of the config domain.
fn config(pairs: &[(&str, &str)]) -> Value {
    Value::Object(pairs.iter().map(|(key, text)| (format!("config.linkerd.io/{key}"), json!(text))).collect())
}
