//! How the module is linked.

/// The memory that an instance begins with, in bytes. What a typical request needs is there without growing it, which costs the host two
/// system calls; what is not written costs nothing.
const INITIAL_MEMORY: usize = 24 * 65_536;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--initial-memory={INITIAL_MEMORY}");
    }
}
