//! The trial of one case: every law, with every edit and change.

use super::api_server::{ApiServer, CONTAINER_LISTS, Limits, billionths};
use super::changes::{CHANGES, Change};
use super::edits::{self, Edit, Touches};
use super::leaves::{Difference, Leaves};
use super::records::{Fate, Way};
use super::rules::{differences, differences_but_record, is_asserted, lost};
use super::{Answer, Law, Mesh, OWN_VOLUMES, Violation, is_ours, records, says_native_twice, unsound};
use crate::case::Case;
use crate::policy::{Policy, PolicyError};
use serde_json::Value;

/// How much is tried of each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every edit, change and spoilt record, with and without an API server.
    All,
    /// One of so many of these, others for each case, so that many cases together go through all.
    Share(usize),
}

/// One thing that is tried.
#[derive(Clone, Copy)]
enum Step {
    Edit(&'static Edit),
    Change(&'static Change),
    Record(&'static Way),
}

/// All that is tried, in each kind of cluster.
fn steps() -> Vec<Step> {
    let edits = edits::all().map(Step::Edit);
    edits.chain(CHANGES.iter().map(Step::Change)).chain(records::WAYS.iter().map(Step::Record)).collect()
}

/// The kinds of clusters: what violations say of them, and the API server that pods go through.
fn servers() -> [(&'static str, Option<ApiServer>); 3] {
    let full = ApiServer { always_pull_images: true, limits: Some(Limits::example()) };
    [("", None), (" through an API server", Some(ApiServer::default())), (" through an API server with all plugins", Some(full))]
}

impl Extent {
    /// All for a few cases, and the less of each the more there are; all is tried of some ten of them.
    #[must_use]
    pub fn for_cases(number: usize) -> Self {
        const MOST: usize = 48;
        match number.checked_div(10).unwrap_or_default() {
            0 | 1 => Extent::All,
            of => Extent::Share(of.min(MOST)),
        }
    }

    /// The steps that are tried of a case, for each kind of cluster.
    fn of(self, case: &Case) -> Vec<Vec<Step>> {
        let steps = steps();
        let rows = || servers().into_iter().map(|_| steps.iter().copied());
        match self {
            Extent::All => rows().map(Iterator::collect).collect(),
            Extent::Share(of) => {
                let mut number = start(case);
                let mut taken = |_: &Step| {
                    number = number.wrapping_add(1);
                    number.checked_rem(of).is_none_or(|rest| rest == 0)
                };
                rows().map(|row| row.filter(&mut taken).collect()).collect()
            }
        }
    }

    /// The second edits that are tried of a case.
    fn thens(self, case: &Case) -> Vec<&'static str> {
        match self {
            Extent::All => THENS.to_vec(),
            Extent::Share(_) => {
                let place = start(case).checked_rem(THENS.len()).unwrap_or_default();
                THENS.iter().cycle().skip(place).step_by(3).take(2).copied().collect()
            }
        }
    }
}

/// Where a case begins in the tables.
fn start(case: &Case) -> usize {
    case.name.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)))
}

/// Edits of the configuration that may come after an edit of the sidecar.
const THENS: [&str; 10] = [
    "native sidecar",
    "no native sidecar",
    "no native sidecar, and nobody waits",
    "mesh refused late",
    "inbound ports given",
    "resources asked for",
    "variables asked for",
    "debug container asked for",
    "ports of the proxy asked for",
    "log level, as kubemod",
];

/// What came of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How often a law held.
    pub held: usize,
    /// Where one did not.
    pub violations: Vec<Violation>,
}

impl Report {
    fn note(&mut self, case: &Case, law: Law, between: &str, reasons: Vec<String>) {
        if reasons.is_empty() {
            self.held = self.held.saturating_add(1);
        }
        let violation = |reason| Violation { case: case.name.clone(), law, between: between.to_owned(), reason };
        self.violations.extend(reasons.into_iter().map(violation));
    }

    /// Takes over what another trial came to.
    pub fn extend(&mut self, other: Report) {
        self.held = self.held.saturating_add(other.held);
        self.violations.extend(other.violations);
    }
}

/// Tries a case. The settings are those of the policy; objects that are no pods, or that the policy refuses, try nothing.
///
/// # Errors
/// The policy gives no answer that can be read.
pub fn try_case(policy: &dyn Policy, settings: &Value, case: &Case, extent: Extent) -> Result<Report, PolicyError> {
    let mut report = Report::default();
    for ((name, server), steps) in servers().into_iter().zip(extent.of(case)) {
        if steps.is_empty() {
            continue;
        }
        let mesh = Mesh::new(policy, settings, case, server);
        let pod = mesh.pod();
        let first = mesh.call(&pod)?;
        if !first.accepted || is_refused(&mesh.edited(&first.pod, |_| {})) {
            continue;
        }
        let thens = extent.thens(case);
        let mut trial = Trial { mesh, name, pod, first, thens, report: Report::default() };
        trial.again("nothing", &trial.first.clone())?;
        if case.request.kind == "Pod" {
            for step in steps {
                match step {
                    Step::Edit(edit) => trial.edit(edit)?,
                    Step::Change(change) => trial.change(change, settings)?,
                    Step::Record(way) => trial.record(way)?,
                }
            }
        }
        report.extend(trial.report);
    }
    Ok(report)
}

/// Whether the API server refuses the pod, for a container that asks for more than its limit: then no law has anything to say.
fn is_refused(pod: &Value) -> bool {
    let lists = CONTAINER_LISTS.iter().filter_map(|list| pod.get("spec")?.get(list)?.as_array());
    lists.flatten().any(|container| {
        let resources = |list: &str| container.get("resources")?.get(list)?.as_object().cloned();
        let (limits, requests) = (resources("limits").unwrap_or_default(), resources("requests").unwrap_or_default());
        let amount = |value: &Value| value.as_str().and_then(billionths);
        limits.iter().any(|(resource, limit)| {
            let pair = || Some((amount(limit)?, amount(requests.get(resource)?)?));
            pair().is_some_and(|(limit, request)| request > limit)
        })
    })
}

/// One case in one cluster.
struct Trial<'a> {
    mesh: Mesh<'a>,
    /// What the calls go through, in violations.
    name: &'static str,
    /// The pod as it came.
    pod: Value,
    /// The first answer.
    first: Answer,
    /// The edits of the configuration that are tried after those of the sidecar.
    thens: Vec<&'static str>,
    report: Report,
}

/// The first few differences, each a reason.
fn few(differences: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    differences.into_iter().take(3).map(|d| d.to_string()).collect()
}

impl Trial<'_> {
    fn note(&mut self, law: Law, between: &str, reasons: Vec<String>) {
        let between = format!("{between}{}", self.name);
        self.report.note(self.mesh.case, law, &between, reasons);
    }

    /// What the policy makes of a pod, and whether that is sound.
    fn call(&mut self, between: &str, pod: &Value) -> Result<Answer, PolicyError> {
        let answer = self.mesh.call(pod)?;
        self.sound(between, pod, &answer);
        Ok(answer)
    }

    fn sound(&mut self, between: &str, pod: &Value, answer: &Answer) {
        let wrong = unsound(pod, answer);
        for law in [Law::UsersPart, Law::Environment, Law::Placement] {
            self.note(law, between, wrong.iter().filter(|(l, _)| *l == law).map(|(_, reason)| reason.clone()).collect());
        }
    }

    /// The leaves of an answer, when all that comes after it is done.
    fn outcome(&self, answer: &Answer) -> Leaves {
        Leaves::of(&self.mesh.edited(&answer.pod, |_| {}))
    }

    /// A call on what an answer left changes nothing.
    fn again(&mut self, between: &str, answer: &Answer) -> Result<(), PolicyError> {
        let pod = self.mesh.edited(&answer.pod, |_| {});
        let second = self.call(between, &pod)?;
        let mut reasons = Vec::new();
        if second.changed {
            let differences = Leaves::of(&pod).differences(&Leaves::of(&second.pod));
            reasons = few(differences);
            if reasons.is_empty() {
                reasons.push("another form of the same".to_owned());
            }
        }
        let new = |warning: &&String| !answer.warnings.contains(warning);
        reasons.extend(second.warnings.iter().filter(new).take(1).map(|warning| format!("says for the first time: {warning}")));
        self.note(Law::Fixpoint, between, reasons);
        Ok(())
    }

    /// One edit by others between two calls.
    fn edit(&mut self, edit: &Edit) -> Result<(), PolicyError> {
        let name = edit.name;
        let before = self.mesh.edited(&self.first.pod, |_| {});
        let edited = self.mesh.edited(&self.first.pod, edit.apply);
        if is_refused(&before) || is_refused(&edited) {
            return Ok(());
        }
        let answer = self.call(name, &edited)?;
        // An edit that comes first, and once more where it needs a sidecar to edit.
        let early_edited = self.mesh.edited(&self.pod, edit.apply);
        let mut early = self.mesh.call(&early_edited)?;
        let fresh = self.outcome(&early);
        if matches!(edit.touches, Touches::Sidecar | Touches::Asserted) {
            early = self.mesh.call(&self.mesh.edited(&early.pod, edit.apply))?;
        }
        if !answer.accepted || !early.accepted {
            let reasons = if answer.accepted == early.accepted { Vec::new() } else { vec!["refused in one order only".to_owned()] };
            self.note(Law::Commutation, name, reasons);
            return Ok(());
        }
        let (late, early) = (self.outcome(&answer), self.outcome(&early));
        // A sidecar that comes of the edit was not there to be edited.
        let once = edit.touches == Touches::Sidecar && answer.injected && !self.first.injected;
        let same = self.sameness(&early_edited, &before);
        // What the user named as we name ours gave way to the sidecar, and does not come back.
        let compared = !once && self.owns_nothing();
        self.note(Law::Commutation, name, if compared { few(same(&late, &early)) } else { Vec::new() });
        if answer.injected {
            let asserted = differences(&late.only(is_asserted), &fresh.only(is_asserted));
            self.note(Law::Record, name, few(asserted));
        }
        let lost = lost(&Leaves::of(&before), &Leaves::of(&edited), &late, &fresh, &answer.warnings);
        self.note(Law::NoLoss, name, few(lost));
        if edit.touches == Touches::Asserted
            && self.first.injected
            && edited != before
            && !answer.warnings.iter().any(|w| w.ends_with(" back"))
        {
            self.note(Law::NoLoss, name, vec!["set back without a warning".to_owned()]);
        }
        self.again(name, &Answer { warnings: answer.warnings.clone(), ..answer.clone() })?;
        if edit.touches == Touches::Sidecar && self.first.injected {
            for place in self.thens.clone() {
                self.then(edit, place)?;
            }
        }
        Ok(())
    }

    /// How an edit that comes first is compared with one that comes later. Where it says in an annotation what the pod inherits
    /// anyway, the annotation is theirs in one order and ours in the other, and the records differ.
    fn sameness(&self, edited: &Value, injected: &Value) -> fn(&Leaves, &Leaves) -> Vec<Difference> {
        let annotations =
            |pod: &Value| pod.pointer("/metadata/annotations").and_then(Value::as_object).cloned().unwrap_or_default();
        let (own, injected) = (annotations(&self.pod), annotations(injected));
        let repeats = annotations(edited).iter().any(|(key, value)| !own.contains_key(key) && injected.get(key) == Some(value));
        if repeats { differences_but_record } else { differences }
    }

    /// An edit of the sidecar stays when the sidecar is wanted otherwise after it, and comes to the same after that.
    fn then(&mut self, edit: &Edit, then: &str) -> Result<(), PolicyError> {
        let Some(then) = edits::named(then) else { return Ok(()) };
        let name = format!("{}, then {}", edit.name, then.name);
        let there = self.mesh.edited(&self.first.pod, |_| {});
        let before = Leaves::of(&there);
        let edited = self.mesh.edited(&self.first.pod, edit.apply);
        let answer = self.call(&name, &self.mesh.edited(&edited, then.apply))?;
        let after = self.outcome(&answer);
        if !answer.accepted || is_refused(&self.mesh.edited(&answer.pod, |_| {})) {
            return Ok(());
        }
        self.note(Law::NoLoss, &name, few(lost(&before, &Leaves::of(&edited), &after, &before, &answer.warnings)));
        self.again(&name, &answer)?;
        // An edit that looks at what it finds does not do the same in both orders.
        if answer.injected && !edit.name.starts_with("images from") && !edit.name.ends_with("as LimitRanger") {
            let asked = self.mesh.edited(&self.pod, then.apply);
            let same = self.sameness(&asked, &there);
            let fresh = self.mesh.call(&asked)?;
            let early = self.mesh.call(&self.mesh.edited(&fresh.pod, edit.apply))?;
            // What is new in the sidecar, the edit may have something to say of.
            let late = self.mesh.call(&self.mesh.edited(&answer.pod, edit.apply))?;
            self.note(Law::Commutation, &name, few(same(&self.outcome(&late), &self.outcome(&early))));
        }
        Ok(())
    }

    /// A change in the cluster, in both directions.
    fn change(&mut self, change: &Change, settings: &Value) -> Result<(), PolicyError> {
        let name = change.name;
        // What the user named as we name ours gives way to it, and does not come back.
        if !self.owns_nothing() {
            return Ok(());
        }
        let mut changed = self.mesh.case.clone();
        (change.apply)(&mut changed);
        let other = Mesh::new(self.mesh.policy, settings, &changed, self.mesh.server.clone());
        let fresh = other.call(&self.pod)?;
        if !fresh.accepted {
            return Ok(());
        }
        let there = self.mesh.edited(&self.first.pod, |_| {});
        let answer = other.call(&there)?;
        self.sound(name, &there, &answer);
        self.note(Law::NoStale, name, few(differences(&self.outcome(&answer), &self.outcome(&fresh))));
        let unchanged = !other.call(&self.mesh.edited(&answer.pod, |_| {}))?.changed;
        self.note(Law::Fixpoint, name, if unchanged { Vec::new() } else { vec!["changed once more".to_owned()] });
        let back = self.call(name, &self.mesh.edited(&fresh.pod, |_| {}))?;
        let reasons = few(differences(&self.outcome(&back), &self.outcome(&self.first)));
        self.note(Law::NoStale, &format!("{name}, and back"), reasons);
        Ok(())
    }

    /// Whether no container and no volume of the pod bore a name of ours when it came.
    fn owns_nothing(&self) -> bool {
        let items = |list: &str| self.pod.get("spec").and_then(|spec| spec.get(list)?.as_array()).into_iter().flatten();
        let is_our_volume = |volume: &Value| volume.get("name").and_then(Value::as_str).is_some_and(|n| OWN_VOLUMES.contains(&n));
        !CONTAINER_LISTS.iter().any(|list| items(list).any(|container| is_ours(container.get("name"))))
            && !items("volumes").any(is_our_volume)
    }

    /// A record that went wrong.
    fn record(&mut self, way: &Way) -> Result<(), PolicyError> {
        let Some(record) = records::of(&self.first.pod).map(str::to_owned) else { return Ok(()) };
        let right = self.outcome(&self.first);
        let pod = self.mesh.edited(&self.first.pod, |pod| records::put(pod, (way.spoil)(&record)));
        let answer = self.call(way.name, &pod)?;
        let after = self.outcome(&answer);
        let mut reasons = match way.fate {
            Fate::Missing | Fate::Unreadable if says_native_twice(self.mesh.case) => Vec::new(),
            Fate::Missing | Fate::Unreadable => few(differences_but_record(&after, &right)),
            Fate::Forged => few(differences(&after.only(is_asserted), &right.only(is_asserted))),
        };
        if way.fate == Fate::Unreadable && self.first.injected && !records::is_named(&answer.warnings) {
            reasons.push("no warning names it".to_owned());
        }
        self.note(Law::Record, way.name, reasons);
        let third = self.call(way.name, &self.mesh.edited(&answer.pod, |_| {}))?;
        self.note(Law::Fixpoint, way.name, if third.changed { vec!["changed once more".to_owned()] } else { Vec::new() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, THENS, steps};
    use crate::case::corpus;

    #[test]
    fn the_corpus_goes_through_all_there_is() {
        let cases = corpus::cases().unwrap();
        let extent = Extent::for_cases(cases.len());
        let mut tried = vec![0_usize; steps().len() * 3];
        let mut thens = std::collections::BTreeSet::new();
        let number = |step: super::Step, row: usize| {
            let name = |step: super::Step| match step {
                super::Step::Edit(edit) => edit.name,
                super::Step::Change(change) => change.name,
                super::Step::Record(way) => way.name,
            };
            row * steps().len() + steps().into_iter().position(|known| name(known) == name(step)).unwrap()
        };
        for case in cases.iter().filter(|case| case.request.kind == "Pod") {
            for (row, steps) in extent.of(case).into_iter().enumerate() {
                steps.into_iter().for_each(|step| tried[number(step, row)] += 1);
            }
            thens.extend(extent.thens(case));
        }
        assert!(tried.iter().all(|times| *times >= 10), "{tried:?}");
        assert_eq!(thens.len(), THENS.len());
        assert_eq!(Extent::for_cases(1), Extent::All);
        assert_eq!(Extent::for_cases(200), Extent::Share(20));
    }
}
