//! The real policy server, run for a test.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use thiserror::Error;

use super::{
    certificate::{Certificate, client},
    free_ports,
};

/// How long the server may take to compile its policies.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// Its files or its process cannot be made.
    #[error("cannot start: {0}")]
    Io(#[from] std::io::Error),
    /// It has no certificate.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// It ended, or is not ready in time; what it logged last is given.
    #[error("the server {what}: {log}")]
    NotReady {
        /// How it failed.
        what: String,
        /// The end of its log.
        log: String,
    },
}

/// A running policy server, which ends with this value.
pub struct PolicyServer {
    child: Child,
    folder: PathBuf,
    port: u16,
    /// What its clients have to trust, as PEM.
    pub ca: String,
}

impl PolicyServer {
    /// Starts `program` with one worker, its files in `folder`, and waits until it is ready. It asks the cluster of
    /// `kubeconfig`, or none. `flags` are given to it after those that it needs.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(
        program: &Path,
        folder: &Path,
        policies: &str,
        kubeconfig: Option<&Path>,
        flags: &[&OsStr],
    ) -> Result<Self, StartError> {
        fs::create_dir_all(folder)?;
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).map(|()| path)
        };
        let certificate = Certificate::for_loopback()?;
        let [port, readiness] = free_ports()?;
        let log = File::create(folder.join("log"))?;
        let mut command = Command::new(program);
        match kubeconfig {
            Some(kubeconfig) => command.env("KUBECONFIG", kubeconfig),
            None => command.arg("--ignore-kubernetes-connection-failure").env_remove("KUBECONFIG"),
        };
        let child = command
            .arg("--policies")
            .arg(file("policies.yml", policies)?)
            .args(["--addr", "127.0.0.1", "--workers", "1", "--log-no-color"])
            .args(["--port", &port.to_string(), "--readiness-probe-port", &readiness.to_string()])
            .arg("--cert-file")
            .arg(file("cert.pem", &certificate.pem)?)
            .arg("--key-file")
            .arg(file("key.pem", &certificate.key_pem)?)
            // Nothing is signed here, and an empty trust configuration keeps it from fetching Sigstore's over the network.
            .arg("--sigstore-trust-config")
            .arg(file("trust.json", "{}")?)
            .arg("--sigstore-cache-dir")
            .arg(folder.join("sigstore"))
            .arg("--policies-download-dir")
            .arg(folder.join("policies"))
            .args(flags)
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut server = Self { child, folder: folder.to_owned(), port, ca: certificate.pem };
        server.wait(readiness)?;
        Ok(server)
    }

    /// Where it answers about a policy.
    #[must_use]
    pub fn url(&self, policy: &str) -> String {
        format!("https://127.0.0.1:{}/validate/{policy}", self.port)
    }

    /// Asks a policy about an AdmissionReview.
    ///
    /// # Errors
    /// There is no answer, or it is not JSON.
    pub fn ask(&self, policy: &str, review: &Value) -> Result<Value, ureq::Error> {
        client(self.ca.as_bytes()).post(self.url(policy)).send_json(review)?.body_mut().read_json()
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn wait(&mut self, readiness: u16) -> Result<(), StartError> {
        let started = Instant::now();
        let what = loop {
            if let Some(status) = self.child.try_wait()? {
                break format!("ended with {status}");
            }
            if ureq::get(format!("http://127.0.0.1:{readiness}/readiness")).call().is_ok() {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                break format!("is not ready after {} s", PATIENCE.as_secs());
            }
            sleep(Duration::from_millis(50));
        };
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let end = lines.get(lines.len().saturating_sub(10)..).unwrap_or_default();
        Err(StartError::NotReady { what, log: end.join("\n") })
    }
}

impl Drop for PolicyServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
