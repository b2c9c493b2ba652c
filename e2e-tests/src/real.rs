//! The programs that read what the policy wrote: the API server, the proxy, linkerd-init; and those that call it.
//!
//! A pod is of use only when all three can read it. [`api_server`] starts a real API server, [`container`] turns what a
//! pod says about a container into the environment and the arguments that the container's program gets, and
//! [`identity`] writes the files that a proxy reads before its environment counts as read. [`policy_server`] runs the
//! policy where users do, and [`webhook`] serves others who edit the same pods, both under a [`certificate`]; [`linkerd`] is the
//! injector that the policy takes the place of. A [`registry`] holds the module on its way to users.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

pub mod api_server;
pub mod certificate;
pub mod container;
pub mod identity;
pub mod linkerd;
pub mod policy_server;
pub mod registry;
pub mod webhook;

/// A temporary folder that goes away with its owner.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder of its own for `what`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(what: &str) -> io::Result<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("{what}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ports that nobody listens on. They are all taken at once, so that they differ.
///
/// # Errors
/// There is none.
pub fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    let mut taken = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *port = listener.local_addr()?.port();
        taken.push(listener);
    }
    Ok(ports)
}

/// Asks about every item, several at once, and gives the answers in the items' order.
pub fn ask_all<T: Sync, A: Send>(items: &[T], workers: usize, ask: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return answers };
            answers.push((index, ask(item)));
        }
    };
    let mut answers: Vec<(usize, A)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_order() {
        let items: Vec<usize> = (0..100).collect();
        let written: Vec<String> = items.iter().map(usize::to_string).collect();
        for workers in [0, 1, 7] {
            assert_eq!(ask_all(&items, workers, usize::to_string), written);
        }
    }

    #[test]
    fn folders_differ_and_go_away() {
        let (first, second) = (Folder::new("real").unwrap(), Folder::new("real").unwrap());
        assert_ne!(first.path(), second.path());
        let path = first.path().to_owned();
        assert!(path.is_dir());
        drop(first);
        assert!(!path.exists());
    }
}
