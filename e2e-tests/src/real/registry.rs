//! A real registry of container images on the loopback, for the time of a test.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use thiserror::Error;

use super::{Folder, free_ports};

/// How long the registry may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A registry that does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// Its files or its process cannot be made.
    #[error("cannot start docker-registry: {0}")]
    Io(#[from] io::Error),
    /// It ended, or does not answer in time; its log is given.
    #[error("docker-registry does not answer: {0}")]
    NotReady(String),
}

/// A running registry without TLS, which ends with this value.
#[derive(Debug)]
pub struct Registry {
    child: Child,
    port: u16,
    folder: Folder,
}

impl Registry {
    /// Starts `program`, Debian's `docker-registry`, and waits until it answers.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(program: &Path) -> Result<Self, StartError> {
        let folder = Folder::new("registry")?;
        let [port] = free_ports()?;
        let storage = folder.file("storage");
        let config = format!(
            "version: 0.1\nlog: {{accesslog: {{disabled: true}}, level: warn}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"127.0.0.1:{port}\"}}\n",
            storage.display()
        );
        fs::write(folder.file("config.yml"), config)?;
        fs::write(folder.file("sources.yml"), format!("insecure_sources: [\"localhost:{port}\"]\n"))?;
        let log = File::create(folder.file("log"))?;
        let child = Command::new(program)
            .arg("serve")
            .arg(folder.file("config.yml"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut registry = Self { child, port, folder };
        let started = Instant::now();
        while ureq::get(format!("http://127.0.0.1:{port}/v2/")).call().is_err() {
            if registry.child.try_wait()?.is_some() || started.elapsed() > PATIENCE {
                return Err(StartError::NotReady(fs::read_to_string(registry.folder.file("log")).unwrap_or_default()));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(registry)
    }

    /// The name that images are pushed under: `localhost:PORT`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// The file that tells Kubewarden's programs that there is no TLS.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.folder.file("sources.yml")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
