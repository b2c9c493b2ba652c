//! What was valid stays valid: the real programs read what the policy writes, over the whole corpus.
//!
//! Each test asks one program about every case and says how many it asked about; its failure lists all that the program
//! refused, by case and with the program's own words.

#[cfg(test)]
mod valid_in_valid_out {
    use std::{
        collections::BTreeMap,
        net::{SocketAddr, TcpListener},
        path::Path,
        process::{Child, Command, ExitStatus, Stdio},
        sync::{LazyLock, Mutex},
        thread,
        time::{Duration, Instant},
    };

    use e2e_tests::{
        case::{Case, CaseResult, Outcome, corpus},
        kinds,
        policy::Native,
        programs,
        real::{
            api_server::{Answer, ApiServer, Programs},
            ask_all, container,
            identity::Identity,
        },
    };
    use serde_json::{Value, json};

    /// A program that runs on has read its environment.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// A case, what becomes of it, and the object that is stored.
    type Stored = (Case, Outcome, Value);

    /// Every case of the corpus and of the extra cases in which an object is created.
    static CASES: LazyLock<Vec<Stored>> = LazyLock::new(|| {
        let mut cases = corpus::cases().unwrap();
        let extra = corpus::folder().join("extra/cases.jsonl");
        if extra.is_file() {
            cases.extend(corpus::read_cases(&extra).unwrap());
        }
        cases.retain(|case| case.request.operation == "CREATE");
        let results = ask_all(&cases, workers(), |case| case.run(&Native, &json!({})).unwrap());
        let stored = |(case, result): (Case, CaseResult)| {
            let object = result.object.unwrap_or_else(|| case.request.object.clone());
            (case, result.outcome, object)
        };
        cases.into_iter().zip(results).map(stored).collect()
    });

    /// A container of every pod that is injected and has it, with the case's name and the pod.
    fn containers(name: &str) -> impl Iterator<Item = (&str, &Value, &Value)> {
        let injected = CASES.iter().filter(|(_, outcome, _)| *outcome == Outcome::Injected);
        injected.filter_map(move |(case, _, pod)| Some((case.name.as_str(), pod, container::find(pod, name)?)))
    }

    fn workers() -> usize {
        thread::available_parallelism().map_or(1, usize::from).saturating_mul(2)
    }

    /// Fails with all failures.
    fn report(what: &str, failures: &[String]) {
        assert!(failures.is_empty(), "{} {what}:\n{}", failures.len(), failures.join("\n"));
    }

    /// What is to be asked once, with the names of the cases that ask it.
    fn distinct<'a, T: Ord>(questions: impl Iterator<Item = (&'a str, T)>) -> Vec<(T, Vec<&'a str>)> {
        let mut all: BTreeMap<T, Vec<&str>> = BTreeMap::new();
        for (case, question) in questions {
            all.entry(question).or_default().push(case);
        }
        all.into_iter().collect()
    }

    /// The first case, and how many others there are.
    fn named(cases: &[&str]) -> String {
        let first = cases.first().copied().unwrap_or("no case");
        match cases.len() {
            0 | 1 => first.to_owned(),
            several => format!("{first} and {} more", several.saturating_sub(1)),
        }
    }

    #[test]
    fn the_api_server_accepts_what_it_accepted_before() {
        let Some(programs) = Programs::find_or_skip("the_api_server_accepts_what_it_accepted_before") else { return };
        let server = ApiServer::start(&programs, &[]).unwrap();
        let cases = CASES.as_slice();
        make_surroundings(&server);

        #[derive(PartialEq)]
        enum Verdict {
            InputRefused,
            NotChanged,
            Accepted,
            Lost(String),
        }
        let verdicts = ask_all(cases, workers(), |(case, outcome, object)| {
            if !create(&server, case, &case.request.object).is_success() {
                return Verdict::InputRefused;
            }
            if *outcome == Outcome::Rejected {
                return Verdict::Lost(format!("{}: rejected by the policy", case.name));
            }
            if *object == case.request.object {
                return Verdict::NotChanged;
            }
            let answer = create(&server, case, object);
            if answer.is_success() { Verdict::Accepted } else { Verdict::Lost(format!("{}: {}", case.name, answer.message())) }
        });
        let count = |wanted: &Verdict| verdicts.iter().filter(|verdict| *verdict == wanted).count();
        eprintln!(
            "{} cases: {} accepted and changed, {} accepted as they are, {} not valid before",
            cases.len(),
            count(&Verdict::Accepted),
            count(&Verdict::NotChanged),
            count(&Verdict::InputRefused),
        );
        assert!(count(&Verdict::Accepted) > count(&Verdict::InputRefused), "the API server refuses the cases themselves");
        let lost: Vec<String> =
            verdicts.into_iter().filter_map(|verdict| if let Verdict::Lost(why) = verdict { Some(why) } else { None }).collect();
        report("objects were valid and are not any more", &lost);
    }

    /// Makes the namespaces and service accounts that the cases' pods live in.
    fn make_surroundings(server: &ApiServer) {
        let accounts = distinct(CASES.iter().flat_map(|(case, ..)| {
            let own = case.request.object.pointer("/spec/serviceAccountName").and_then(Value::as_str);
            ["default"].into_iter().chain(own).map(|account| (case.name.as_str(), (case.request.namespace.as_str(), account)))
        }));
        for ((namespace, account), _) in accounts {
            let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
            for (path, name) in [("/api/v1/namespaces", namespace), (accounts.as_str(), account)] {
                let answer = server.post(path, &json!({"metadata": {"name": name}})).unwrap();
                // 409: it is there. 400, 404 and 422: it cannot be, and what needs it is not valid.
                assert!(
                    answer.is_success() || [400, 404, 409, 422].contains(&answer.status),
                    "{path} {name}: {}",
                    answer.message()
                );
            }
        }
    }

    fn create(server: &ApiServer, case: &Case, object: &Value) -> Answer {
        let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or("v1");
        let root = if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") };
        let plural = kinds::plural(api_version, &case.request.kind);
        server.post(&format!("{root}/namespaces/{}/{plural}?dryRun=All", case.request.namespace), object).unwrap()
    }

    #[test]
    fn the_proxy_reads_every_environment() {
        let Some(proxy) = programs::find_or_skip("linkerd2-proxy", "the_proxy_reads_every_environment") else { return };
        let identity = Identity::new().unwrap();
        let files = [
            ("LINKERD2_PROXY_IDENTITY_DIR", identity.folder().display().to_string()),
            ("LINKERD2_PROXY_IDENTITY_TOKEN_FILE", identity.token().display().to_string()),
            ("LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS", identity.trust_anchors().to_owned()),
        ];
        let written = distinct(containers("linkerd-proxy").map(|(case, pod, sidecar)| {
            let mut environment = container::environment(pod, sidecar);
            for (name, value) in &files {
                if container::names(sidecar, name) {
                    set(&mut environment, name, value);
                }
            }
            (case, environment)
        }));
        let ports = Ports::default();
        let refusals = ask_all(&written, workers(), |(environment, cases)| {
            Some(format!("{}: {}", named(cases), read_by_proxy(&proxy, environment, &ports).err()?))
        });
        eprintln!("{} distinct environments", written.len());
        let mut unreadable = written.first().unwrap().0.clone();
        set(&mut unreadable, "LINKERD2_PROXY_INBOUND_CONNECT_TIMEOUT", "-1s");
        let refusal = read_by_proxy(&proxy, &unreadable, &ports).unwrap_err();
        assert!(refusal.contains("exit code 64: ") && refusal.contains("LINKERD2_PROXY_INBOUND_CONNECT_TIMEOUT"), "{refusal}");
        report("environments cannot be read", &refusals.into_iter().flatten().collect::<Vec<_>>());
    }

    fn set(environment: &mut Vec<(String, String)>, name: &str, value: &str) {
        environment.retain(|(known, _)| known != name);
        environment.push((name.to_owned(), value.to_owned()));
    }

    /// Ports that are kept taken, so that a proxy ends as soon as it has read its environment and listens.
    #[derive(Default)]
    struct Ports(Mutex<BTreeMap<SocketAddr, Option<TcpListener>>>);

    impl Ports {
        /// Takes an address. Where that does not succeed, the proxy's own attempt does not either.
        fn take(&self, address: SocketAddr) {
            self.0.lock().unwrap().entry(address).or_insert_with(|| TcpListener::bind(address).ok());
        }
    }

    fn read_by_proxy(proxy: &Path, environment: &[(String, String)], ports: &Ports) -> Result<(), String> {
        for (name, value) in environment {
            if let ("LINKERD2_PROXY_ADMIN_LISTEN_ADDR", Ok(address)) = (name.as_str(), value.parse()) {
                ports.take(address);
            }
        }
        match run(Command::new(proxy).env_clear().envs(environment.iter().map(|(name, value)| (name, value))))? {
            (None | Some(0), _) => Ok(()),
            // It came as far as its ports: ours, those of another proxy, or one that only root may have.
            (Some(_), words) if words.contains("Address already in use") || words.contains("Permission denied") => Ok(()),
            (Some(code), words) => Err(format!("exit code {code}: {}", last(&words))),
        }
    }

    #[test]
    fn linkerd_init_reads_every_argument_list() {
        let Some(init) = programs::find_or_skip("linkerd2-proxy-init", "linkerd_init_reads_every_argument_list") else { return };
        let written = distinct(containers("linkerd-init").map(|(case, _, container)| (case, container::args(container))));
        let refusals =
            ask_all(&written, workers(), |(args, cases)| Some(format!("{}: {}", named(cases), read_by_init(&init, args).err()?)));
        eprintln!("{} distinct argument lists", written.len());
        assert!(!written.is_empty());
        assert!(read_by_init(&init, &["--proxy-uid=2.1e+09".to_owned()]).is_err(), "linkerd-init reads everything");
        report("argument lists cannot be read", &refusals.into_iter().flatten().collect::<Vec<_>>());
    }

    fn read_by_init(init: &Path, args: &[String]) -> Result<(), String> {
        match run(Command::new(init).arg("--simulate").args(args))? {
            (Some(0), _) => Ok(()),
            (Some(code), words) => Err(format!("exit code {code}: {}", last(&words))),
            (None, words) => Err(format!("does not end: {}", last(&words))),
        }
    }

    /// Runs a program until it ends, for a few seconds at most: its exit code, if it has ended, and what it said.
    fn run(command: &mut Command) -> Result<(Option<i32>, String), String> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("cannot be started: {error}"))?;
        let (out, err) = (listen(child.stdout.take()), listen(child.stderr.take()));
        let status = wait(&mut child);
        let words = out.join().unwrap() + &err.join().unwrap();
        match status {
            Some(status) if status.code().is_none() => Err(format!("{status}: {}", last(&words))),
            status => Ok((status.and_then(|status| status.code()), words)),
        }
    }

    /// The last lines of what a program said.
    fn last(words: &str) -> String {
        let mut lines: Vec<&str> = words.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
        lines.reverse();
        lines.join(" | ")
    }

    /// Reads a pipe to its end, so that its writer never waits for a reader.
    fn listen(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<String> {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    fn wait(child: &mut Child) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = child.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        None
    }
}
