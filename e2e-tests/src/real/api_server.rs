//! A real API server with its etcd on the loopback, for the time of a test: no kubelet, no controllers.
//!
//! In: `etcd` and `kube-apiserver` from `PATH`, or from the folder that `KUBEBUILDER_ASSETS` names. Out: an
//! [`ApiServer`], which is ready when it is there and gone when it is dropped. Nothing makes service accounts: a pod's
//! must be created before the pod.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thiserror::Error;
use ureq::Agent;

use super::{Folder, certificate, free_ports};
use crate::programs;

/// The folder of test programs, as others who test with an API server name it.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
const USER: &str = "admin";
/// How long a start may take; seconds, as a rule.
const PATIENCE: Duration = Duration::from_secs(90);
/// Free ports may be taken by others before the programs take them.
const ATTEMPTS: usize = 3;

/// Why there is no API server.
#[derive(Debug, Error)]
pub enum StartError {
    /// A file, a port or a program cannot be used.
    #[error("cannot {0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// The keys cannot be made.
    #[error("cannot make a key: {0}")]
    Key(#[from] rcgen::Error),
    /// A program ended, or was not ready in time.
    #[error("{program} {what}; its last words:\n{log}")]
    Program {
        /// Which one.
        program: &'static str,
        /// What it did.
        what: String,
        /// The end of its log.
        log: String,
    },
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum AskError {
    /// The server cannot be reached, or does not answer in JSON.
    #[error("no answer: {0}")]
    Http(#[from] ureq::Error),
}

/// What the server answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The object, or a `Status` that says why there is none.
    pub body: Value,
    /// What a person is warned of, as kubectl prints it.
    pub warnings: Vec<String>,
}

impl Answer {
    /// Whether the server did what it was asked to.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Why it did not, in its words.
    #[must_use]
    pub fn message(&self) -> &str {
        self.body.get("message").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The programs that make an API server.
#[derive(Debug, Clone)]
pub struct Programs {
    etcd: PathBuf,
    api_server: PathBuf,
}

impl Programs {
    /// Finds them.
    #[must_use]
    pub fn find() -> Option<Self> {
        Some(Self { etcd: find("etcd")?, api_server: find("kube-apiserver")? })
    }

    /// Finds them, or says that `test` is skipped for want of them.
    #[must_use]
    pub fn find_or_skip(test: &str) -> Option<Self> {
        Some(Self { etcd: find_or_skip("etcd", test)?, api_server: find_or_skip("kube-apiserver", test)? })
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let asset = env::var_os(ASSETS).map(|folder| Path::new(&folder).join(program)).filter(|path| path.is_file());
    asset.or_else(|| programs::find(program))
}

fn find_or_skip(program: &str, test: &str) -> Option<PathBuf> {
    find(program).or_else(|| programs::find_or_skip(program, test))
}

/// A program that ends with its owner.
#[derive(Debug)]
struct Running {
    program: &'static str,
    child: Child,
    log: PathBuf,
}

impl Running {
    fn start(program: &'static str, command: &mut Command, folder: &Folder) -> Result<Self, StartError> {
        let log = folder.file(&format!("{program}.log"));
        let out = fs::File::create(&log).map_err(|error| StartError::Io("make a log file", error))?;
        let err = out.try_clone().map_err(|error| StartError::Io("make a log file", error))?;
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        Ok(Self { program, child: child.map_err(|error| StartError::Io("start a program", error))?, log })
    }

    fn signal(&self, name: &str) -> io::Result<()> {
        Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().map(drop)
    }

    fn alive(&mut self) -> Result<(), StartError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(format!("ended with {status}"))),
            Err(error) => Err(StartError::Io("watch a program", error)),
        }
    }

    fn failed(&self, what: String) -> StartError {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let mut lines: Vec<&str> = text.lines().rev().take(20).collect();
        lines.reverse();
        StartError::Program { program: self.program, what, log: lines.join("\n") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A graceful end of the API server waits for etcd; there is nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running API server.
#[derive(Debug)]
pub struct ApiServer {
    agent: Agent,
    url: String,
    authorization: String,
    // Fields are dropped in order: the server before its store, the folder last.
    server: Running,
    etcd: Running,
    folder: Folder,
}

impl ApiServer {
    /// Starts one; `flags` are given to `kube-apiserver` after those that it needs.
    ///
    /// # Errors
    /// It does not start, or is not ready in time.
    pub fn start(programs: &Programs, flags: &[&str]) -> Result<Self, StartError> {
        let mut result = Self::attempt(programs, flags);
        for _ in 1..ATTEMPTS {
            match &result {
                Err(StartError::Program { log, .. }) if log.contains("address already in use") => {
                    result = Self::attempt(programs, flags);
                }
                _ => break,
            }
        }
        result
    }

    fn attempt(programs: &Programs, flags: &[&str]) -> Result<Self, StartError> {
        let folder = Folder::new("api-server").map_err(|error| StartError::Io("make a folder", error))?;
        let write =
            |name: &str, text: &str| fs::write(folder.file(name), text).map_err(|error| StartError::Io("write a file", error));
        let [port, client, peer] = free_ports().map_err(|error| StartError::Io("find a free port", error))?;
        let key = rcgen::KeyPair::generate()?;
        write("sa.key", &key.serialize_pem())?;
        write("sa.pub", &key.public_key_pem())?;
        // Only this process and its children may know the token, and it lives as long as the server.
        let token: String =
            rcgen::KeyPair::generate()?.public_key_raw().iter().skip(1).take(16).map(|byte| format!("{byte:02x}")).collect();
        write("tokens.csv", &format!("{token},{USER},{USER},\"system:masters\"\n"))?;

        let path = |name: &str| folder.file(name).display().to_string();
        let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        let mut etcd = Running::start(
            "etcd",
            Command::new(&programs.etcd).args([
                format!("--data-dir={}", path("etcd")),
                format!("--listen-client-urls={client}"),
                format!("--advertise-client-urls={client}"),
                format!("--listen-peer-urls={peer}"),
                // What it stores is thrown away.
                "--unsafe-no-fsync=true".to_owned(),
            ]),
            &folder,
        )?;
        let mut server = Running::start(
            "kube-apiserver",
            Command::new(&programs.api_server)
                .args([
                    format!("--etcd-servers={client}"),
                    "--bind-address=127.0.0.1".to_owned(),
                    format!("--secure-port={port}"),
                    format!("--cert-dir={}", path("certs")),
                    "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                    format!("--service-account-key-file={}", path("sa.pub")),
                    format!("--service-account-signing-key-file={}", path("sa.key")),
                    format!("--token-auth-file={}", path("tokens.csv")),
                    "--authorization-mode=RBAC".to_owned(),
                    "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
                    "--allow-privileged=true".to_owned(),
                ])
                .args(flags),
            &folder,
        )?;

        let url = format!("https://127.0.0.1:{port}");
        let authorization = format!("Bearer {token}");
        let certificate = folder.file("certs/apiserver.crt");
        let started = Instant::now();
        let agent = loop {
            etcd.alive()?;
            server.alive()?;
            if let Some(agent) = agent(&certificate)
                && agent
                    .get(format!("{url}/readyz"))
                    .header("Authorization", &authorization)
                    .call()
                    .is_ok_and(|answer| answer.status() == 200)
            {
                break agent;
            }
            if started.elapsed() > PATIENCE {
                return Err(server.failed(format!("is not ready after {} s", PATIENCE.as_secs())));
            }
            thread::sleep(Duration::from_millis(200));
        };
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": certificate}}],
            "users": [{"name": USER, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": USER}}],
            "current-context": "test",
        });
        // JSON is YAML.
        write("kubeconfig", &kubeconfig.to_string())?;
        Ok(Self { agent, url, authorization, server, etcd, folder })
    }

    /// A file with which other programs reach the server, as a user who may do everything.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.file("kubeconfig")
    }

    /// Where the server listens: `https://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server's certificate and its authority's, as PEM.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.file("certs/apiserver.crt")
    }

    /// Reads `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn get(&self, path: &str) -> Result<Answer, AskError> {
        self.administrator().get(path)
    }

    /// Sends `object` to `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn post(&self, path: &str, object: &Value) -> Result<Answer, AskError> {
        self.administrator().post(path, object)
    }

    /// Replaces the object at `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn put(&self, path: &str, object: &Value) -> Result<Answer, AskError> {
        let request = self.agent.put(format!("{}{path}", self.url)).header("Authorization", &self.authorization);
        answer(request.send_json(object)?)
    }

    /// Deletes the object at `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn delete(&self, path: &str) -> Result<Answer, AskError> {
        answer(self.agent.delete(format!("{}{path}", self.url)).header("Authorization", &self.authorization).call()?)
    }

    /// Lets etcd stand still, so that nothing is read or written.
    ///
    /// # Errors
    /// There is no program `kill`.
    pub fn pause_store(&self) -> io::Result<()> {
        self.etcd.signal("STOP")
    }

    /// Lets etcd go on.
    ///
    /// # Errors
    /// There is no program `kill`.
    pub fn resume_store(&self) -> io::Result<()> {
        self.etcd.signal("CONT")
    }

    /// Ends the server; its etcd runs on.
    ///
    /// # Errors
    /// It cannot be ended.
    pub fn stop(&mut self) -> io::Result<()> {
        self.server.child.kill()?;
        self.server.child.wait().map(drop)
    }

    /// Somebody who may do everything.
    fn administrator(&self) -> Caller<'_> {
        Caller { server: self, authorization: self.authorization.clone() }
    }

    /// Whoever has this token.
    #[must_use]
    pub fn caller(&self, token: &str) -> Caller<'_> {
        Caller { server: self, authorization: format!("Bearer {token}") }
    }
}

/// Somebody who speaks to the server.
#[derive(Debug, Clone)]
pub struct Caller<'a> {
    server: &'a ApiServer,
    authorization: String,
}

impl Caller<'_> {
    /// Reads `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn get(&self, path: &str) -> Result<Answer, AskError> {
        let ApiServer { agent, url, .. } = self.server;
        answer(agent.get(format!("{url}{path}")).header("Authorization", &self.authorization).call()?)
    }

    /// Sends `object` to `path`, which begins with a slash.
    ///
    /// # Errors
    /// There is no answer.
    pub fn post(&self, path: &str, object: &Value) -> Result<Answer, AskError> {
        let ApiServer { agent, url, .. } = self.server;
        answer(agent.post(format!("{url}{path}")).header("Authorization", &self.authorization).send_json(object)?)
    }
}

fn answer(mut response: ureq::http::Response<ureq::Body>) -> Result<Answer, AskError> {
    let headers = response.headers().get_all("warning").iter();
    let warnings = headers.filter_map(|header| warning(std::str::from_utf8(header.as_bytes()).ok()?)).collect();
    Ok(Answer { status: response.status().as_u16(), body: response.body_mut().read_json()?, warnings })
}

/// The text of a warning header: `299 - "…"`, with backslashes before quotes and backslashes.
fn warning(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 - \"")?.strip_suffix('"')?;
    let mut text = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        text.push(if letter == '\\' { letters.next()? } else { letter });
    }
    Some(text)
}

/// A client that trusts the certificates in a file, and no others; none as long as there is no certificate.
fn agent(certificates: &Path) -> Option<Agent> {
    fs::read(certificates).ok().map(|pem| certificate::client(&pem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_read_as_they_were_meant() {
        for (header, text) in [
            (r#"299 - "a \"b\" \\n""#, Some(r#"a "b" \n"#)),
            (r#"299 - """#, Some("")),
            (r#"199 - "a""#, None),
            (r#"299 - "a"#, None),
        ] {
            assert_eq!(warning(header).as_deref(), text, "{header}");
        }
    }

    #[test]
    fn starts_answers_and_ends() {
        let Some(programs) = Programs::find_or_skip("starts_answers_and_ends") else { return };
        let server = ApiServer::start(&programs, &[]).unwrap();
        let read = server.get("/api/v1/namespaces/default").unwrap();
        assert!(read.is_success(), "{}", read.message());
        let missing = server.get("/api/v1/namespaces/none").unwrap();
        assert_eq!((missing.status, missing.message()), (404, "namespaces \"none\" not found"));
        let made = server.post("/api/v1/namespaces", &json!({"metadata": {"name": "shop"}})).unwrap();
        assert_eq!((made.status, &made.body["metadata"]["name"]), (201, &json!("shop")));
        assert!(server.kubeconfig().is_file());
        let folder = server.folder.path().to_owned();
        drop(server);
        assert!(!folder.exists());
    }
}
