//! The module in a real policy server: figures, their tables, their budgets.

use std::{fmt::Write as _, time::Duration};

use super::{budget::Budget, loadtest::Load, mebibytes, scenario::TYPICAL_POD};

/// Who answers the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A policy server with a policy that accepts everything.
    AcceptAll,
    /// A policy server with this policy, its configuration in the settings.
    Settings,
    /// A policy server with this policy, its configuration in the cluster.
    ConfigMaps,
    /// Linkerd's own injector.
    Linkerd,
}

impl Subject {
    /// All of them, in the order in which they are asked.
    pub const ALL: [Self; 4] = [Self::AcceptAll, Self::Settings, Self::ConfigMaps, Self::Linkerd];

    /// The name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AcceptAll => "accept-everything",
            Self::Settings => "this policy, settings",
            Self::ConfigMaps => "this policy, ConfigMaps",
            Self::Linkerd => "Linkerd's injector",
        }
    }
}

/// The figures of one request and one subject. Times are in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The request's name.
    pub scenario: &'static str,
    /// Who answered.
    pub subject: Subject,
    /// Half of the answers took no longer.
    pub p50: f64,
    /// 99 of a hundred answers took no longer.
    pub p99: f64,
    /// Answers a second, one request after another.
    pub rate: f64,
    /// CPU time of the server for a request.
    pub cpu: f64,
}

impl Row {
    /// The figures of several rounds: the median of each, and of CPU time, which has few digits, the mean.
    #[must_use]
    pub fn of(scenario: &'static str, subject: Subject, rounds: &[Load]) -> Self {
        let middle = |of: fn(&Load) -> f64| median(rounds.iter().map(of).collect());
        let cpu: Duration = rounds.iter().map(|round| round.cpu).sum();
        let cpu = u32::try_from(rounds.len()).ok().and_then(|number| cpu.checked_div(number));
        Self {
            scenario,
            subject,
            p50: middle(|round| round.p50.as_secs_f64()),
            p99: middle(|round| round.p99.as_secs_f64()),
            rate: middle(|round| round.rate),
            cpu: cpu.map_or(f64::NAN, |cpu| cpu.as_secs_f64()),
        }
    }
}

/// The middle one, the upper of two; none of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What came of many requests at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Endurance {
    /// How many requests.
    pub requests: usize,
    /// How many at the same time.
    pub concurrency: usize,
    /// How many were not answered as they should.
    pub failures: usize,
    /// One of these, in words.
    pub failure: Option<String>,
    /// The server's resident memory while it answered, in bytes, as often as it was looked at.
    pub resident: Vec<u64>,
}

impl Endurance {
    /// The middle of resident memory in each quarter of the time.
    #[must_use]
    pub fn quarters(&self) -> Option<[u64; 4]> {
        let middle = |quarter: &[u64]| {
            let mut quarter = quarter.to_vec();
            quarter.sort_unstable();
            quarter.get(quarter.len() / 2).copied()
        };
        let mut quarters = self.resident.chunks_exact(self.resident.len().checked_div(4).filter(|length| *length > 0)?);
        let mut next = || quarters.next().and_then(middle);
        Some([next()?, next()?, next()?, next()?])
    }

    /// Resident memory in the last quarter over that in the second: in the first, the server still makes its threads.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.quarters().map_or(f64::NAN, |[_, second, _, last]| ratio(last, second))
    }
}

#[allow(clippy::cast_precision_loss, reason = "nobody counts the bytes of a gigabyte")]
fn ratio(of: u64, over: u64) -> f64 {
    of as f64 / over as f64
}

/// What memory may come to and still be flat. In 100,000 requests it swings by a third around its middle, up and down, as the
/// allocator of the server has it; one page of 64 KiB that each request left behind would be four times the middle after 10,000.
const FLAT: f64 = 1.5;

/// All figures of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// One row a request and subject.
    pub rows: Vec<Row>,
    /// Resident memory of each subject after all rounds, in bytes.
    pub resident: Vec<(Subject, u64)>,
    /// Many requests at once.
    pub endurance: Endurance,
}

impl Figures {
    /// Every figure, as tables in Markdown.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| request | answered by | p50 | p99 | requests/s | CPU a request | p50, × accept-everything | CPU, × accept-everything |\n\
             |---|---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            let over = |of: fn(&Row) -> f64| self.over(of, row.scenario, row.subject, Subject::AcceptAll);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {:.0} | {} | {:.2} | {:.2} |",
                row.scenario,
                row.subject.as_str(),
                milliseconds(row.p50),
                milliseconds(row.p99),
                row.rate,
                milliseconds(row.cpu),
                over(|row| row.p50),
                over(|row| row.cpu),
            );
        }
        text.push_str("\n| answered by | resident memory |\n|---|--:|\n");
        for (subject, bytes) in &self.resident {
            let _ = writeln!(text, "| {} | {} |", subject.as_str(), mebibytes(*bytes));
        }
        let Endurance { requests, concurrency, failures, failure, .. } = &self.endurance;
        let resident: Vec<String> = self.endurance.quarters().into_iter().flatten().map(mebibytes).collect();
        let _ = writeln!(
            text,
            "\n{requests} mixed requests, {concurrency} at once: {failures} failures, resident memory by quarters {}",
            resident.join(", ")
        );
        if let Some(failure) = failure {
            let _ = writeln!(text, "one failure: {failure}");
        }
        text
    }

    /// What holds on any machine, as a table in Markdown with one row a request.
    #[must_use]
    pub fn ratios(&self) -> String {
        let mut text = String::from(
            "| request | CPU: settings | ConfigMaps | Linkerd's injector | p50: settings | ConfigMaps | Linkerd's injector |\n\
             |---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in self.rows.iter().filter(|row| row.subject == Subject::AcceptAll) {
            let _ = write!(text, "| {} |", row.scenario);
            for of in [|row: &Row| row.cpu, |row: &Row| row.p50] {
                for subject in [Subject::Settings, Subject::ConfigMaps, Subject::Linkerd] {
                    let _ = write!(text, " {:.1} |", self.over(of, row.scenario, subject, Subject::AcceptAll));
                }
            }
            text.push('\n');
        }
        text
    }

    /// The budgets.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let typical = |subject, over| self.over(|row| row.cpu, TYPICAL_POD.name, subject, over);
        let cpu =
            |subject: Subject, over: Subject| format!("CPU a request, typical pod: {} over {}", subject.as_str(), over.as_str());
        let at_most = |bound, subject, over| Budget::at_most(bound, typical(subject, over), cpu(subject, over));
        let at_least = |bound, subject, over| Budget::at_least(bound, typical(subject, over), cpu(subject, over));
        let Endurance { requests, concurrency, failures, .. } = self.endurance;
        let load = format!("{requests} mixed requests, {concurrency} at once");
        let failures = u32::try_from(failures).map_or(f64::INFINITY, f64::from);
        vec![
            at_most(1.4, Subject::Settings, Subject::AcceptAll),
            at_most(2.0, Subject::ConfigMaps, Subject::AcceptAll),
            at_least(10.0, Subject::Linkerd, Subject::Settings),
            at_least(8.0, Subject::Linkerd, Subject::ConfigMaps),
            Budget::at_most(0.0, failures, format!("{load}: failures")),
            Budget::at_most(
                FLAT,
                self.endurance.growth(),
                format!("{load}: resident memory in the last quarter over that in the second"),
            ),
        ]
    }

    fn over(&self, of: impl Fn(&Row) -> f64, scenario: &str, subject: Subject, over: Subject) -> f64 {
        let find = |subject| self.rows.iter().find(|row| row.scenario == scenario && row.subject == subject).map(&of);
        find(subject).zip(find(over)).map_or(f64::NAN, |(subject, over)| subject / over)
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

#[cfg(test)]
mod tests;
