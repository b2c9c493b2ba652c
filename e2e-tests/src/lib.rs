//! A small Kubewarden host, and what the tests and tools of the policy are built from.
//!
//! The host is made of the crates that the policy server is built on, so that what a test sees in the module is what a
//! cluster will see. [`policy`] runs the policy natively or as WebAssembly, [`host`] answers its calls, [`cluster`] is
//! where those answers come from. [`case`] reads the conformance corpus and turns an answer into a result of its format.
//! [`preview`] and [`annotate`] are the two tools with enough to them to be tested as a library, [`bench`] what is measured and how
//! much it may be.

pub mod added;
pub mod admission;
pub mod annotate;
pub mod artefacts;
pub mod ask;
pub mod bench;
pub mod case;
pub mod cluster;
pub mod compare;
pub mod conformance;
pub mod deviation;
pub mod differential;
pub mod fuzz;
pub mod host;
pub mod kinds;
pub mod laws;
pub mod policy;
pub mod preview;
pub mod programs;
pub mod query;
pub mod real;
pub mod reference;
pub mod refusal;
pub mod sessions;
pub mod settings;
pub mod yaml;
