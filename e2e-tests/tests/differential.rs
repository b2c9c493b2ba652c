//! The policy against Linkerd's own injector on generated cases, a few of them; the program `differential` tries more.

#[cfg(test)]
mod differential {
    use std::{
        sync::Arc,
        thread,
        time::{Duration, Instant},
    };

    use e2e_tests::{
        case::Case,
        conformance::oracle,
        differential::{Differential, Generator},
        host::Host,
        kinds,
        policy::{Native, Policy, PolicyError},
        programs,
        real::{
            api_server::{ApiServer, Programs},
            ask_all,
        },
    };
    use serde_json::{Value, json};

    /// Other seeds are tried with the program.
    const SEED: u64 = 20_260_801;
    const CASES: usize = 400;
    /// So many are shown to the API server, which answers fast.
    const OBJECTS: usize = 500;

    #[test]
    fn generated_cases_are_equal_or_explained() {
        let Some(oracle) = programs::find_or_skip(oracle::PROGRAM, "generated_cases_are_equal_or_explained") else { return };
        let started = Instant::now();
        let (report, found) = Differential { oracle, policy: &Native }.run(SEED, CASES, |_| ()).unwrap();
        let [equal, explained, unexplained] = report.counts();
        eprintln!("seed {SEED}: equal {equal}, explained {explained}, unexplained {unexplained} in {:?}", started.elapsed());
        let wrong: Vec<String> =
            found.iter().flat_map(|found| found.wrong.iter().map(|wrong| format!("{}: {wrong}", found.case.name))).collect();
        assert!(
            wrong.is_empty(),
            "`cargo run --release -p e2e-tests --bin differential -- --seed {SEED} --cases {CASES}` makes these smaller:\n{}",
            wrong.join("\n")
        );
        assert_eq!(equal + explained, CASES);
        assert!(equal > CASES / 20 && explained > CASES / 2, "cases of both sorts");
        assert!(started.elapsed() < Duration::from_secs(120), "few enough to be tried each time");
    }

    /// The policy, but for one variable of the proxy.
    struct Spoilt;

    impl Policy for Spoilt {
        fn name(&self) -> &'static str {
            "spoilt"
        }

        fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
            let answer = String::from_utf8(Native.validate(payload, host)?).unwrap();
            Ok(answer.replace("LINKERD2_PROXY_CONTROL_LISTEN_ADDR", "LINKERD2_PROXY_CONTROL_LISTEN").into_bytes())
        }

        fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
            Native.validate_settings(payload)
        }
    }

    #[test]
    fn a_policy_that_is_wrong_is_found_out() {
        let Some(oracle) = programs::find_or_skip(oracle::PROGRAM, "a_policy_that_is_wrong_is_found_out") else { return };
        let (report, found) = Differential { oracle, policy: &Spoilt }.run(SEED, 12, |_| ()).unwrap();
        let [_, _, unexplained] = report.counts();
        assert!(unexplained > 0 && found.len() == unexplained, "{}", report.summary());
        assert!(found.iter().all(|found| found.wrong.iter().any(|wrong| wrong.kind.contains("LINKERD2_PROXY_CONTROL_LISTEN"))));
    }

    fn create(server: &ApiServer, case: &Case, object: &Value) -> Result<(), String> {
        let path = format!("/api/v1/namespaces/{}/{}?dryRun=All", case.request.namespace, kinds::plural("v1", &case.request.kind));
        let answer = server.post(&path, object).unwrap();
        if answer.is_success() { Ok(()) } else { Err(format!("{}: {}", case.name, answer.message())) }
    }

    #[test]
    fn the_api_server_takes_what_is_generated_before_and_after() {
        let Some(programs) = Programs::find_or_skip("the_api_server_takes_what_is_generated_before_and_after") else { return };
        let server = ApiServer::start(&programs, &[]).unwrap();
        let cases: Vec<Case> = Generator::new(SEED).take(OBJECTS).collect();
        let mut namespaces: Vec<&str> = cases.iter().map(|case| case.request.namespace.as_str()).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        for namespace in namespaces {
            let mut made = vec![server.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).unwrap()];
            for account in ["default", "web"] {
                let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
                made.push(server.post(&path, &json!({"metadata": {"name": account}})).unwrap());
            }
            made.iter().for_each(|answer| assert!(answer.is_success(), "{}", answer.message()));
        }
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let refused: Vec<String> = ask_all(&cases, workers, |case| {
            create(&server, case, &case.request.object).map_err(|why| format!("before: {why}"))?;
            let result = case.run(&Native, &Value::Null).unwrap();
            result.object.map_or(Ok(()), |object| create(&server, case, &object).map_err(|why| format!("after: {why}")))
        })
        .into_iter()
        .filter_map(Result::err)
        .collect();
        assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
        let mut spoilt = cases.into_iter().find(|case| case.request.kind == "Pod").unwrap();
        spoilt.request.object["spec"]["containers"] = Value::Array(Vec::new());
        assert!(create(&server, &spoilt, &spoilt.request.object).is_err());
    }
}
