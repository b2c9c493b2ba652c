//! The rights of `artefacts/rbac.yaml`: enough for every look-up, and for nothing else.

use std::{collections::BTreeSet, sync::Arc};

use e2e_tests::{
    case::corpus,
    cluster::Asked,
    host::Host,
    kinds,
    policy::{Native, Policy as _},
    query::Query,
    real::{
        api_server::{ApiServer, Caller, Programs},
        ask_all,
    },
};
use serde_json::{Value, json};

use crate::mesh::{Mesh, artefact, create, namespaces, token, until};

/// Verb, group, resource and, where a right is for one object alone, its name.
type Right = (String, String, String, Option<String>);

/// Where the corpus' pods are created, and a namespace that has nothing to do with any of this.
const ELSEWHERE: &[&str] = &["kubewarden", "shop", "kube-system"];

#[test]
fn rights_are_those_that_the_policy_needs() {
    let Some(programs) = Programs::find_or_skip("rights_are_those_that_the_policy_needs") else { return };
    let api = ApiServer::start(&programs, &[]).unwrap();
    namespaces(&api);
    create(&api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    create(&api, &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody", "namespace": "kubewarden"}}));
    artefact("rbac.yaml").iter().for_each(|object| drop(create(&api, object)));
    Mesh::configuration().iter().for_each(|object| drop(create(&api, object)));
    let injector = token(&api, "linkerd-injector");
    let nobody = token(&api, "nobody");
    let (injector, nobody) = (api.caller(injector.as_str().unwrap()), api.caller(nobody.as_str().unwrap()));
    // The API server sees a new binding a moment later.
    let has = |namespace: &str, expected: &BTreeSet<Right>| {
        until(&format!("the rights in {namespace}"), || {
            let given = &rights(&injector, namespace) - &rights(&nobody, namespace);
            if given == *expected { Ok(()) } else { Err(format!("{given:?} instead of {expected:?}")) }
        });
    };

    let queries = queries();
    let needed: BTreeSet<Right> = queries.iter().flat_map(needed).collect();
    assert!(needed.len() >= 4, "{needed:?}");
    has("linkerd", &needed);
    let everywhere: BTreeSet<Right> = needed.iter().filter(|(.., name)| name.is_none()).cloned().collect();
    for namespace in ELSEWHERE {
        has(namespace, &everywhere);
    }

    // What the rights say is what the API server does.
    for query in queries.iter().filter(|query| in_the_mesh(query)) {
        let path = path(query);
        let answer = injector.get(&path).unwrap();
        assert!([200, 404].contains(&answer.status), "{path}: {}", answer.message());
        assert_eq!(nobody.get(&path).unwrap().status, 403, "{path}");
    }
    for path in [
        "/api/v1/namespaces",
        "/api/v1/namespaces/linkerd/configmaps",
        "/api/v1/namespaces/linkerd/configmaps/another",
        "/api/v1/namespaces/shop/configmaps/linkerd-config",
        "/api/v1/namespaces/linkerd/secrets",
        "/api/v1/namespaces/shop/pods",
        "/apis/apps/v1/namespaces/shop/replicasets",
        "/apis/batch/v1/jobs",
        "/api/v1/limitranges",
    ] {
        let answer = injector.get(path).unwrap();
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
    }

    artefact("rbac-limitranges.yaml").iter().for_each(|object| drop(create(&api, object)));
    let limit_ranges = ["list", "watch"].map(|verb| (verb.to_owned(), String::new(), "limitranges".to_owned(), None));
    has("shop", &(&everywhere | &BTreeSet::from(limit_ranges)));
    assert_eq!(injector.get("/api/v1/limitranges").unwrap().status, 200);
}

/// Everything that the policy looks up over the corpus.
fn queries() -> Vec<Query> {
    let cases = corpus::cases().unwrap();
    let asked = ask_all(&cases, 2, |case| {
        let asked = Asked::new(case.manifests());
        let host = Arc::new(Host::new(asked.clone()));
        Native.respond(&case.admission_request(), &case.settings(&Value::Null), &host).unwrap();
        asked.queries()
    });
    let mut queries: Vec<Query> = Vec::new();
    for query in asked.into_iter().flatten() {
        if !queries.contains(&query) {
            queries.push(query);
        }
    }
    queries
}

/// Some cases have their control plane elsewhere.
fn in_the_mesh(query: &Query) -> bool {
    match query {
        Query::KubernetesGetResource { kind, namespace, .. } => kind != "ConfigMap" || namespace.as_deref() == Some("linkerd"),
        _ => true,
    }
}

/// The rights that the policy server needs to answer: a get, or a list that it keeps up to date.
fn needed(query: &Query) -> Vec<Right> {
    let (api_version, kind) = query.resource().unwrap();
    let (group, _) = kinds::group_version(api_version);
    let right = |verb: &str, name: Option<&str>| {
        (verb.to_owned(), group.to_owned(), kinds::plural(api_version, kind), name.map(str::to_owned))
    };
    match query {
        // The two ConfigMaps have fixed names; anything else is asked for by whatever name it has.
        Query::KubernetesGetResource { name, .. } => vec![right("get", (kind == "ConfigMap").then_some(name.as_str()))],
        _ => vec![right("list", None), right("watch", None)],
    }
}

fn path(query: &Query) -> String {
    let (api_version, kind) = query.resource().unwrap();
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let resource = kinds::plural(api_version, kind);
    let Query::KubernetesGetResource { name, namespace, .. } = query else { return format!("/{root}/{api_version}/{resource}") };
    let namespace = namespace.as_ref().map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
    format!("/{root}/{api_version}{namespace}/{resource}/{name}")
}

/// Everything that somebody may do in a namespace, as the API server tells them.
fn rights(caller: &Caller<'_>, namespace: &str) -> BTreeSet<Right> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    });
    let answer = caller.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", &review).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    let status = &answer.body["status"];
    assert_eq!(status["incomplete"], false);
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in status["resourceRules"].as_array().unwrap() {
        let mut names: Vec<Option<String>> = texts(&rule["resourceNames"]).into_iter().map(Some).collect();
        if names.is_empty() {
            names.push(None);
        }
        for verb in texts(&rule["verbs"]) {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    rights.extend(names.iter().map(|name| (verb.clone(), group.clone(), resource.clone(), name.clone())));
                }
            }
        }
    }
    rights
}
