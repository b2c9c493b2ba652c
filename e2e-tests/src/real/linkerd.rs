//! Linkerd's own injector, run for a test.

use std::{
    fs,
    io::Write as _,
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::case::Case;

use super::{free_ports, policy_server::StartError};

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `linkerd-oracle`, which answers admission reviews as Linkerd's injector does, and ends with this value.
pub struct Linkerd {
    child: Child,
    /// Where it answers, over HTTP.
    pub url: String,
}

impl Linkerd {
    /// Starts `program` with the cluster and the configuration of a case, its log in `folder`.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(program: &Path, folder: &Path, case: &Case) -> Result<Self, StartError> {
        fs::create_dir_all(folder)?;
        let log = folder.join("linkerd.log");
        let [port] = free_ports()?;
        let address = format!("127.0.0.1:{port}");
        let mut child = Command::new(program)
            .args(["-serve", &address])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let case = serde_json::to_string(case).map_err(std::io::Error::other)?;
            writeln!(stdin, "{case}")?;
        }
        let linkerd = Self { child, url: format!("http://{address}/") };
        let started = Instant::now();
        while TcpStream::connect(&address).is_err() {
            if started.elapsed() > PATIENCE {
                let log = fs::read_to_string(log).unwrap_or_default();
                return Err(StartError::NotReady { what: format!("is not ready after {} s", PATIENCE.as_secs()), log });
            }
            sleep(Duration::from_millis(50));
        }
        Ok(linkerd)
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Linkerd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
