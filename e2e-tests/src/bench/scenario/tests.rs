use super::*;
use crate::case::CaseResult;
use crate::policy::Response;

fn result(world: &World, scenario: &Scenario, configuration: Configuration) -> CaseResult {
    let call = world.call(scenario, configuration).unwrap();
    let answer: Response = serde_json::from_slice(&Native.validate(&call.payload, &call.host).unwrap()).unwrap();
    assert!(answer.accepted, "{}: {answer:?}", scenario.name);
    CaseResult::of(scenario.name, &world.request(scenario).unwrap()["object"], answer)
}

#[test]
fn every_request_ends_as_its_row_says_however_the_policy_is_configured() {
    let world = World::read().unwrap();
    for scenario in SCENARIOS.iter().chain(GROWTH.iter().map(|(_, scenario)| scenario)) {
        let [settings, maps] = Configuration::ALL.map(|configuration| result(&world, scenario, configuration));
        assert_eq!(settings.outcome, scenario.outcome(), "{}: {settings:?}", scenario.name);
        assert_eq!(settings, maps, "{}", scenario.name);
    }
}

#[test]
fn names_differ_and_hold_what_they_say() {
    let mut names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let world = World::read().unwrap();
    for (entries, scenario) in &GROWTH {
        let request = world.request(scenario).unwrap();
        assert_eq!(request["object"]["spec"]["containers"][0]["env"].as_array().unwrap().len(), *entries);
    }
    let thirty = world.request(&THIRTY_CONTAINERS).unwrap();
    assert_eq!(thirty["object"]["spec"]["containers"].as_array().unwrap().len(), 30);
    let bare = world.request(&NOT_MESHED).unwrap().to_string();
    assert!(!bare.contains("containerPort") && !bare.contains("Probe\""), "{bare}");
}

#[test]
fn the_configuration_in_the_cluster_is_a_full_one() {
    let objects = World::read().unwrap().objects();
    let config = objects.iter().find(|object| object["metadata"]["name"] == "linkerd-config").unwrap();
    let values = config["data"]["values"].as_str().unwrap();
    assert!(values.len() > 6000, "{} bytes", values.len());
    assert!(!values.contains("BEGIN CERTIFICATE"));
}
