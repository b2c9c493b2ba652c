//! The laws of reinvocation over the corpus, natively and in the module, and the model of the API server against a real one.

#[cfg(test)]
mod laws {
    use e2e_tests::{
        artefacts,
        case::{Case, Outcome, corpus},
        laws::{Extent, Law, Mesh, Report, api_server, edits, matrix, try_adoption, try_case},
        policy::{Module, Native, Policy},
        real::{self, ask_all},
    };
    use serde_json::{Value, json};
    use std::{collections::BTreeMap, thread};

    fn workers() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// What came of all cases together, printed and held to nothing broken.
    fn must_hold(reports: impl IntoIterator<Item = Report>) {
        let mut total = Report::default();
        reports.into_iter().for_each(|report| total.extend(report));
        let shown: Vec<String> = total.violations.iter().take(20).map(ToString::to_string).collect();
        eprintln!("laws held {}, broken {}", total.held, total.violations.len());
        assert!(total.violations.is_empty(), "{} violations, of which:\n{}", total.violations.len(), shown.join("\n"));
        assert!(total.held > 0);
    }

    fn case(name: &str) -> Case {
        corpus::cases().unwrap().into_iter().find(|case| case.name == name).unwrap()
    }

    fn servers() -> [api_server::ApiServer; 2] {
        let plain = api_server::ApiServer::default();
        let full = api_server::ApiServer { always_pull_images: true, limits: Some(api_server::Limits::example()) };
        [plain, full]
    }

    #[test]
    fn the_laws_hold_over_the_corpus() {
        let paths = corpus::pairs().map(|(cases, _)| cases);
        let cases: Vec<Case> = paths.iter().flat_map(|path| corpus::read_cases(path).unwrap()).collect();
        let extent = Extent::for_cases(cases.len());
        must_hold(ask_all(&cases, workers(), |case| try_case(&Native, &Value::Null, case, extent).unwrap()));
    }

    #[test]
    fn the_laws_hold_in_the_module() {
        let Some(path) = artefacts::module_or_skip("the_laws_hold_in_the_module") else { return };
        let module = Module::open(&path).unwrap();
        let cases: Vec<Case> = corpus::cases().unwrap().into_iter().step_by(24).collect();
        must_hold(ask_all(&cases, workers(), |case| try_case(&module, &Value::Null, case, Extent::Share(48)).unwrap()));
    }

    #[test]
    fn webhooks_in_all_orders_give_one_pod() {
        let (case, orders) = (case("realistic/web-api+plain"), matrix::orders());
        let server = &servers()[1];
        let parts: Vec<&[Vec<matrix::Webhook>]> = orders.chunks(90).collect();
        // Every part is held against the same first order.
        let reports = ask_all(&parts, workers(), |part| {
            let orders = [&orders[..1], part].concat();
            matrix::try_orders(&Native, &Value::Null, &case, server, &orders).unwrap()
        });
        must_hold(reports);
    }

    #[test]
    fn webhooks_in_some_orders_give_one_pod_whatever_the_case() {
        let cases: Vec<Case> = corpus::cases().unwrap().into_iter().filter(|case| case.family == "realistic").collect();
        let orders = matrix::orders();
        let tried: Vec<(usize, Case)> = cases.into_iter().step_by(7).enumerate().collect();
        let reports = ask_all(&tried, workers(), |(place, case)| {
            let some: Vec<_> = orders.iter().skip(*place).step_by(97).cloned().collect();
            let mut report = Report::default();
            for server in servers() {
                // Only pods that come into the mesh have a sidecar to edit.
                let mesh = Mesh::new(&Native, &Value::Null, case, Some(server.clone()));
                if mesh.call(&mesh.pod()).unwrap().injected {
                    report.extend(matrix::try_orders(&Native, &Value::Null, case, &server, &some).unwrap());
                }
            }
            report
        });
        must_hold(reports);
    }

    #[test]
    fn the_laws_tell_when_they_are_broken() {
        let (case, skip) = (case("realistic/web-api+plain"), json!({"reinvocation": "skip"}));
        let report = try_case(&Native, &skip, &case, Extent::All).unwrap();
        let mut broken: BTreeMap<Law, usize> = BTreeMap::new();
        report.violations.iter().for_each(|violation| *broken.entry(violation.law).or_default() += 1);
        for law in [Law::Commutation, Law::NoStale] {
            assert!(broken.contains_key(&law), "{broken:?}");
        }
        let some: Vec<_> = matrix::orders().into_iter().step_by(60).collect();
        let report = matrix::try_orders(&Native, &skip, &case, &servers()[0], &some).unwrap();
        assert!(report.violations.iter().any(|v| v.reason == "lost: OPA's port in the proxy's inbound ports"));
        let line = report.violations[0].to_string();
        assert!(line.starts_with("realistic/web-api+plain: any order (") && !line.contains('\n'), "{line}");
    }

    #[test]
    fn what_linkerd_injected_is_kept_or_adopted() {
        let pairs: Vec<_> = corpus::cases().unwrap().into_iter().zip(corpus::linkerd().unwrap()).collect();
        let reports = ask_all(&pairs, workers(), |(case, result)| match &result.object {
            Some(injected) if result.outcome == Outcome::Injected => try_adoption(&Native, case, injected).unwrap(),
            _ => Report::default(),
        });
        must_hold(reports);
    }

    /// A pod as a real API server would store it, in a namespace; `None` when it refuses the pod.
    fn stored(server: &real::api_server::ApiServer, namespace: &str, pod: &Value) -> Option<Value> {
        let mut pod = pod.clone();
        pod["metadata"]["namespace"] = json!(namespace);
        let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Ignore");
        let answer = server.post(&path, &pod).unwrap();
        answer.is_success().then_some(answer.body)
    }

    /// What of a stored pod the model speaks of; the name of a token's volume is drawn by lot.
    fn compared(pod: &Value) -> Value {
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let names = volumes.filter_map(|v| v["name"].as_str()).map(str::to_owned);
        let drawn: Vec<String> = names.filter(|name| name.starts_with("kube-api-access-")).collect();
        let metadata = &pod["metadata"];
        let mut text =
            json!({"spec": pod["spec"], "annotations": metadata["annotations"], "labels": metadata["labels"]}).to_string();
        for name in drawn {
            text = text.replace(&name, "kube-api-access-");
        }
        serde_json::from_str(&text).unwrap()
    }

    /// Pods before and after the policy, and after each edit.
    fn pods(server: &api_server::ApiServer) -> Vec<(String, Value)> {
        let mut pods = Vec::new();
        // The real server drops fields that it does not know, and the model knows no fields.
        let known = |case: &Case| case.request.kind == "Pod" && case.name != "shape/future-fields";
        for case in corpus::cases().unwrap().into_iter().filter(known).step_by(9) {
            let mesh = Mesh::new(&Native, &Value::Null, &case, Some(server.clone()));
            let first = mesh.call(&mesh.pod()).unwrap();
            pods.push((case.name.clone(), case.request.object.clone()));
            pods.push((format!("{}, injected", case.name), first.pod));
        }
        let case = case("realistic/web-api+plain");
        let mesh = Mesh::new(&Native, &Value::Null, &case, Some(server.clone()));
        let injected = mesh.stored(&mesh.call(&mesh.pod()).unwrap().pod);
        for edit in edits::all() {
            let mut pod = injected.clone();
            (edit.apply)(&mut pod);
            let again = mesh.call(&mesh.admitted(&pod)).unwrap().pod;
            pods.push((edit.name.to_owned(), pod));
            pods.push((format!("{}, injected again", edit.name), again));
        }
        pods
    }

    /// The model against a server with these flags, in a namespace with or without a LimitRange.
    fn compare(programs: &real::api_server::Programs, flags: &[&str], model: &api_server::ApiServer) {
        let server = real::api_server::ApiServer::start(programs, flags).unwrap();
        let made = |path: &str, object: Value| {
            let answer = server.post(path, &object).unwrap();
            assert!(answer.is_success(), "{}", answer.message());
        };
        made("/api/v1/namespaces", json!({"metadata": {"name": "shop"}}));
        made("/api/v1/namespaces/shop/serviceaccounts", json!({"metadata": {"name": "default"}}));
        if let Some(limits) = &model.limits {
            let limit = json!({"type": "Container", "default": limits.default, "defaultRequest": limits.default_request});
            let range = json!({"metadata": {"name": "limits"}, "spec": {"limits": [limit]}});
            made("/api/v1/namespaces/shop/limitranges", range);
        }
        let pods = pods(model);
        let answers = ask_all(&pods, workers(), |(_, pod)| stored(&server, "shop", pod));
        let refused = answers.iter().filter(|answer| answer.is_none()).count();
        for ((name, pod), answer) in pods.iter().zip(answers) {
            if let Some(real) = answer {
                assert_eq!(compared(&model.admit(pod)), compared(&real), "{name}");
            }
        }
        eprintln!("{} pods compared with what the API server stores, {refused} of them refused", pods.len());
        assert!(refused < pods.len() / 20, "{refused} of {} pods refused", pods.len());
    }

    #[test]
    fn the_model_of_the_api_server_is_as_the_real_one() {
        let Some(programs) = real::api_server::Programs::find_or_skip("the_model_of_the_api_server_is_as_the_real_one") else {
            return;
        };
        let [plain, full] = servers();
        compare(&programs, &[], &plain);
        compare(&programs, &["--enable-admission-plugins=AlwaysPullImages"], &full);
    }

    #[test]
    fn the_policies_are_told_apart() {
        assert_eq!(Native.name(), "native");
    }
}
