//! The real programs that are measured side by side: policy servers with either policy, and Linkerd's injector.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use thiserror::Error;
use ureq::Agent;

use super::{
    Modules,
    loadtest::{self, LoadtestError, Target},
    scenario::{Configuration, NOT_MESHED, Namespace, SCENARIOS, Scenario, ScenarioError, THIRTY_CONTAINERS, TYPICAL_POD, World},
    server::{Endurance, Figures, Row, Subject},
};
use crate::{
    case::Outcome,
    kinds, programs,
    real::{
        Folder,
        api_server::{self, ApiServer, AskError},
        ask_all,
        certificate::client,
        linkerd::Linkerd,
        policy_server::{PolicyServer, StartError},
    },
};

/// How often each subject takes its turn.
const ROUNDS: usize = 5;
/// The requests of a turn. Linkerd's injector takes ten times as long for each.
const TURN: u32 = 500;
const TURN_OF_LINKERD: u32 = 150;
/// What every subject is asked.
const MEASURED: [Scenario; 3] = [TYPICAL_POD, THIRTY_CONTAINERS, NOT_MESHED];
/// The requests that are sent at once.
const ENDURANCE: usize = 20_000;
const CONCURRENCY: usize = 32;
/// The time from one look at the server's memory to the next.
const GLANCE: Duration = Duration::from_millis(50);

/// Why there are no figures.
#[derive(Debug, Error)]
pub enum ServersError {
    /// Some programs are not there.
    #[error("needs {} on PATH", .0.join(", "))]
    Programs(Vec<&'static str>),
    /// A file cannot be written or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The API server does not start.
    #[error("kube-apiserver: {0}")]
    ApiServer(#[from] api_server::StartError),
    /// The API server does not answer.
    #[error("kube-apiserver: {0}")]
    Ask(#[from] AskError),
    /// The API server refuses an object of the mesh.
    #[error("kube-apiserver refuses {0}: {1}")]
    Refused(String, String),
    /// Another server does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A request cannot be made.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A request is not answered.
    #[error("{subject}, {scenario}: {source}")]
    Loadtest {
        /// Who was asked.
        subject: &'static str,
        /// What.
        scenario: &'static str,
        /// Why there is no figure.
        source: LoadtestError,
    },
}

/// The programs that take part.
struct Programs {
    policy_server: PathBuf,
    linkerd: PathBuf,
    loadtest: PathBuf,
    api_server: api_server::Programs,
}

impl Programs {
    fn find() -> Result<Self, ServersError> {
        let names = ["policy-server", "linkerd-oracle", "loadtest", "kube-apiserver", "etcd"];
        let [policy_server, linkerd, loadtest, ..] = names.map(programs::find);
        match (policy_server, linkerd, loadtest, api_server::Programs::find()) {
            (Some(policy_server), Some(linkerd), Some(loadtest), Some(api_server)) => {
                Ok(Self { policy_server, linkerd, loadtest, api_server })
            }
            _ => Err(ServersError::Programs(names.into_iter().filter(|name| programs::find(name).is_none()).collect())),
        }
    }
}

/// The running programs.
pub struct Servers {
    // Fields are dropped in order: whoever asks goes before whoever answers.
    accept_all: PolicyServer,
    settings: PolicyServer,
    config_maps: PolicyServer,
    linkerd: Linkerd,
    _api: ApiServer,
    world: World,
    loadtest: PathBuf,
    folder: Folder,
}

impl Servers {
    /// Starts them all, with the annotated modules, and an API server with the mesh's configuration.
    ///
    /// # Errors
    /// A program is not on PATH, or does not start.
    pub fn start(modules: &Modules) -> Result<Self, ServersError> {
        let programs = Programs::find()?;
        let world = World::read()?;
        let folder = Folder::new("bench-server")?;
        let api = ApiServer::start(&programs.api_server, &[])?;
        for object in namespaces(&world).iter().chain(&world.objects()) {
            create(&api, object)?;
        }
        let start = |name: &str, module: &Path, configuration| {
            let policies = policies(&world, module, configuration).to_string();
            PolicyServer::start(&programs.policy_server, &folder.file(name), &policies, Some(&api.kubeconfig()), &[])
        };
        Ok(Self {
            accept_all: start("accept-all", &modules.accept_all, None)?,
            settings: start("settings", &modules.policy, Some(Configuration::Settings))?,
            config_maps: start("config-maps", &modules.policy, Some(Configuration::ConfigMaps))?,
            linkerd: Linkerd::start(&programs.linkerd, &folder.file("linkerd"), &world.case())?,
            _api: api,
            world,
            loadtest: programs.loadtest,
            folder,
        })
    }

    /// Measures everything.
    ///
    /// # Errors
    /// A request is not answered, or denied.
    pub fn measure(&self) -> Result<Figures, ServersError> {
        let mut rows = Vec::new();
        for scenario in &MEASURED {
            rows.extend(self.rounds(scenario)?);
        }
        let resident = Subject::ALL.into_iter().map(|subject| Ok((subject, resident(self.pid(subject))?)));
        let resident = resident.collect::<io::Result<_>>()?;
        Ok(Figures { rows, resident, endurance: self.endure()? })
    }

    /// Each subject's turn after the other's, several times, so that what else happens on the machine happens to all.
    fn rounds(&self, scenario: &Scenario) -> Result<Vec<Row>, ServersError> {
        let body = self.folder.file("review.json");
        fs::write(&body, review(&self.world.request(scenario)?))?;
        let mut loads = Subject::ALL.map(|subject| (subject, Vec::new()));
        for round in 0..=ROUNDS {
            for (subject, loads) in &mut loads {
                let requests = if *subject == Subject::Linkerd { TURN_OF_LINKERD } else { TURN };
                let url = self.url(*subject, scenario.namespace);
                let target = Target { url: &url, pid: self.pid(*subject) };
                // The first round is there to warm up.
                let requests = if round == 0 { requests / 5 } else { requests };
                let load = loadtest::run(&self.loadtest, requests, target, &body).map_err(|source| ServersError::Loadtest {
                    subject: subject.as_str(),
                    scenario: scenario.name,
                    source,
                })?;
                if round > 0 {
                    loads.push(load);
                }
            }
        }
        Ok(loads.into_iter().map(|(subject, loads)| Row::of(scenario.name, subject, &loads)).collect())
    }

    /// Sends all scenarios in turn, many at once, to the policy server whose policy asks the cluster.
    fn endure(&self) -> Result<Endurance, ServersError> {
        let server = &self.config_maps;
        let mut mixed = Vec::new();
        for scenario in &SCENARIOS {
            let review = review(&self.world.request(scenario)?);
            mixed.push(Request { scenario, url: server.url(scenario.namespace.name()), review });
        }
        let client = client(server.ca.as_bytes());
        let requests: Vec<&Request<'_>> = mixed.iter().cycle().take(ENDURANCE).collect();
        let failure = Mutex::new(None);
        let send = |request: &&Request<'_>| {
            let sent = request.send(&client);
            if let (Err(why), Ok(mut failure)) = (&sent, failure.lock()) {
                *failure = Some(format!("{}: {why}", request.scenario.name));
            }
            sent.is_ok()
        };
        let (answers, resident) = watched(server.pid(), || ask_all(&requests, CONCURRENCY, send));
        Ok(Endurance {
            requests: ENDURANCE,
            concurrency: CONCURRENCY,
            failures: answers.iter().filter(|good| !**good).count(),
            failure: failure.into_inner().unwrap_or_default(),
            resident: resident?,
        })
    }

    fn url(&self, subject: Subject, namespace: Namespace) -> String {
        match subject {
            Subject::AcceptAll => self.accept_all.url(namespace.name()),
            Subject::Settings => self.settings.url(namespace.name()),
            Subject::ConfigMaps => self.config_maps.url(namespace.name()),
            Subject::Linkerd => self.linkerd.url.clone(),
        }
    }

    fn pid(&self, subject: Subject) -> u32 {
        match subject {
            Subject::AcceptAll => self.accept_all.pid(),
            Subject::Settings => self.settings.pid(),
            Subject::ConfigMaps => self.config_maps.pid(),
            Subject::Linkerd => self.linkerd.pid(),
        }
    }
}

/// A review and where it is sent.
struct Request<'a> {
    scenario: &'a Scenario,
    url: String,
    review: String,
}

impl Request<'_> {
    /// Sends it; says what is wrong with the answer.
    fn send(&self, client: &Agent) -> Result<(), String> {
        let mut answer = client
            .post(&self.url)
            .header("Content-Type", "application/json")
            .send(&self.review)
            .map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        let body: Value = answer.body_mut().read_json().map_err(|error| format!("status {status}: {error}"))?;
        let response = body.get("response").unwrap_or(&Value::Null);
        if response.get("allowed") != Some(&Value::Bool(true)) {
            let message = response.pointer("/status/message").and_then(Value::as_str).unwrap_or_default();
            return Err(format!("status {status}, not allowed: {message}"));
        }
        let patched = response.get("patch").is_some_and(|patch| !patch.is_null());
        let expected = self.scenario.outcome() != Outcome::Skipped;
        if patched == expected { Ok(()) } else { Err(format!("patched: {patched}, expected: {expected}")) }
    }
}

/// An admission review, as an API server sends it.
fn review(request: &Value) -> String {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string()
}

/// One policy a namespace, for settings may stand for what the namespace says.
fn policies(world: &World, module: &Path, configuration: Option<Configuration>) -> Value {
    let policies = Namespace::ALL.map(|namespace| {
        let policy = json!({
            "module": format!("file://{}", module.display()),
            "policyMode": "protect",
            "allowedToMutate": true,
            "settings": configuration.map_or_else(|| json!({}), |configuration| world.settings(configuration, namespace)),
            "hostCapabilities": ["kubernetes/get_resource"],
            "contextAwareResources": [
                {"apiVersion": "v1", "kind": "Namespace"},
                {"apiVersion": "v1", "kind": "ConfigMap"},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet"},
                {"apiVersion": "batch/v1", "kind": "Job"},
            ],
        });
        (namespace.name().to_owned(), policy)
    });
    Value::Object(policies.into_iter().collect())
}

/// The namespaces of the objects that do not come with one.
fn namespaces(world: &World) -> Vec<Value> {
    let objects = world.objects();
    let mut names: Vec<&str> = objects.iter().filter_map(|object| object.pointer("/metadata/namespace")?.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).collect()
}

fn create(api: &ApiServer, object: &Value) -> Result<(), ServersError> {
    let answer = api.post(&kinds::collection(object), object)?;
    if answer.is_success() {
        return Ok(());
    }
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    Err(ServersError::Refused(name.to_owned(), answer.message().to_owned()))
}

/// The resident memory of a process, again and again as long as `work` takes.
fn watched<T>(pid: u32, work: impl FnOnce() -> T) -> (T, io::Result<Vec<u64>>) {
    let done = AtomicBool::new(false);
    let watch = || {
        let mut seen = Vec::new();
        loop {
            seen.push(resident(pid)?);
            if done.load(Ordering::Relaxed) {
                return Ok(seen);
            }
            thread::sleep(GLANCE);
        }
    };
    thread::scope(|scope| {
        let watcher = scope.spawn(watch);
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The resident memory of a process, in bytes.
fn resident(pid: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    read_resident(&status).ok_or_else(|| io::Error::other(format!("process {pid} does not say how large it is")))
}

/// Reads the line `VmRSS:     41000 kB`.
fn read_resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_resident_memory() {
        assert_eq!(read_resident("Name:\tx\nVmRSS:\t   41000 kB\nRssAnon:\t 1 kB\n"), Some(41_984_000));
        assert_eq!(read_resident("Name:\tx\n"), None);
        assert!(resident(std::process::id()).unwrap() > 1 << 20);
        assert!(resident(0).is_err());
    }

    #[test]
    fn memory_is_watched_while_the_work_lasts() {
        let (result, seen) = watched(std::process::id(), || {
            thread::sleep(GLANCE * 3);
            7
        });
        assert_eq!(result, 7);
        assert!(seen.unwrap().len() >= 2);
        assert!(watched(0, || ()).1.is_err());
    }

    #[test]
    fn the_policies_of_a_server_differ_only_by_what_the_namespace_says() {
        let world = World::read().unwrap();
        let mut policies = policies(&world, Path::new("/m.wasm"), Some(Configuration::Settings));
        let annotations = policies["plain"]["settings"]["namespaceAnnotations"].take();
        assert_eq!(annotations, json!({}));
        assert_eq!(policies["shop"]["settings"]["namespaceAnnotations"].take()["linkerd.io/inject"], "enabled");
        assert_eq!(policies["shop"], policies["plain"]);
    }

    #[test]
    fn a_world_without_its_namespaces_is_completed() {
        let names = namespaces(&World::read().unwrap());
        assert_eq!(names, [json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd"}})]);
    }
}
