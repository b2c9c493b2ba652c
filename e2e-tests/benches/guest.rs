//! The module's time for each request: new instances of it and of a module that accepts everything, and the same code without
//! WebAssembly. Ends with one table and the budgets, and with status 1 where one does not hold.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use criterion::{
    Criterion, SamplingMode, Throughput,
    measurement::{Measurement, ValueFormatter},
};
use e2e_tests::{
    bench::{
        Modules, budget,
        guest::{Figures, Row},
        scenario::{Call, Configuration, GROWTH, SCENARIOS, Scenario, ScenarioError, World},
    },
    policy::{Metered, Module, Native, Policy, PolicyError},
    reference,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::io::{self, Write as _};
use thiserror::Error;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");

#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("{0}: the module answers something else than the same code does natively")]
    Differs(&'static str),
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    #[error("there are no marks for {0} in the README")]
    Marks(&'static str),
}

/// The CPU time of this thread, which calls the policies: what else the machine does at the time does not count.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, first: &Duration, second: &Duration) -> Duration {
        first.saturating_add(*second)
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_secs_f64() * 1e9
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Microseconds
    }
}

/// Times as criterion prints them while it measures.
struct Microseconds;

impl ValueFormatter for Microseconds {
    fn scale_values(&self, _typical: f64, values: &mut [f64]) -> &'static str {
        values.iter_mut().for_each(|value| *value /= 1e3);
        "µs"
    }

    fn scale_throughputs(&self, _typical: f64, _throughput: &Throughput, _values: &mut [f64]) -> &'static str {
        "ns"
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}

/// Measures one call after another, each policy's beside the others'.
struct Bench {
    criterion: Criterion<CpuTime>,
    results: PathBuf,
    world: World,
    policy: Module,
    accept_all: Module,
    metered: [Metered; 2],
}

impl Bench {
    fn new(modules: &Modules) -> Result<Self, Failure> {
        // Beside the folder that cargo gives to benches, where criterion's own tools look for it.
        let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../criterion");
        let criterion = Criterion::default()
            .with_measurement(CpuTime)
            .without_plots()
            .output_directory(&results)
            .sample_size(40)
            .nresamples(2000)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(1200))
            .configure_from_args();
        let (policy, accept_all) = (Module::open(&modules.policy)?, Module::open(&modules.accept_all)?);
        let metered = [Metered::open(&modules.policy)?, Metered::open(&modules.accept_all)?];
        Ok(Self { criterion, results, world: World::read()?, policy, accept_all, metered })
    }

    /// Every figure; of those that a filter leaves out, none.
    fn figures(&mut self, modules: &Modules) -> Result<Figures, Failure> {
        let mut rows = Vec::new();
        for configuration in Configuration::ALL {
            for scenario in &SCENARIOS {
                rows.extend(self.row(configuration, scenario)?);
            }
        }
        let mut growth = Vec::new();
        for (entries, scenario) in &GROWTH {
            let call = self.call(scenario, Configuration::Settings)?;
            let guest = median(&mut self.criterion, &self.results, scenario.name, "guest", &self.policy, &call);
            growth.extend(guest.map(|guest| (*entries, guest)));
        }
        Ok(Figures { rows, growth, module: size(&modules.policy)?, accept_all: size(&modules.accept_all)? })
    }

    fn row(&mut self, configuration: Configuration, scenario: &Scenario) -> Result<Option<Row>, Failure> {
        let call = self.call(scenario, configuration)?;
        let group = format!("{}, {}", configuration.as_str(), scenario.name);
        let mut median = |name: &str, policy: &dyn Policy| median(&mut self.criterion, &self.results, &group, name, policy, &call);
        let native = median("native", &Native);
        let guest = median("guest", &self.policy);
        let accept_all = median("accept-everything", &self.accept_all);
        let (Some(native), Some(guest), Some(accept_all)) = (native, guest, accept_all) else { return Ok(None) };
        let [cost, accept_all_cost] = self.metered.each_ref().map(|metered| metered.cost("validate", &call.payload, &call.host));
        let (cost, accept_all_cost) = (cost?, accept_all_cost?);
        Ok(Some(Row { configuration, scenario: scenario.name, guest, native, accept_all, cost, accept_all_cost }))
    }

    /// The call, once both have answered it alike.
    fn call(&self, scenario: &Scenario, configuration: Configuration) -> Result<Call, Failure> {
        let call = self.world.call(scenario, configuration)?;
        let answers = [&Native as &dyn Policy, &self.policy].map(|policy| policy.validate(&call.payload, &call.host));
        let [native, guest] = answers;
        if native? == guest? { Ok(call) } else { Err(Failure::Differs(scenario.name)) }
    }
}

/// The median time of a call, in nanoseconds; none where it was not measured this time.
fn median(
    criterion: &mut Criterion<CpuTime>,
    results: &Path,
    group: &str,
    name: &str,
    policy: &dyn Policy,
    call: &Call,
) -> Option<f64> {
    let latest = results.join(group).join(name).join("new");
    let _ = fs::remove_dir_all(&latest);
    criterion
        .benchmark_group(group)
        .sampling_mode(SamplingMode::Flat)
        .bench_function(name, |bencher| bencher.iter(|| policy.validate(&call.payload, &Arc::clone(&call.host))));
    let text = fs::read(latest.join("estimates.json")).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?.pointer("/median/point_estimate")?.as_f64()
}

fn size(path: &Path) -> Result<u64, Failure> {
    fs::metadata(path).map(|file| file.len()).map_err(|source| Failure::Read { path: path.to_owned(), source })
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Whether every budget holds.
fn run() -> Result<bool, Failure> {
    let modules = Modules::plain();
    let figures = Bench::new(&modules)?.figures(&modules)?;
    if figures.rows.is_empty() && figures.growth.is_empty() {
        return Ok(true);
    }
    let budgets = figures.budgets();
    write!(io::stdout().lock(), "\n{}\n{}", figures.table(), budget::report(&budgets))?;
    if std::env::var_os("UPDATE_README").is_some() {
        let text = fs::read_to_string(README)?;
        let mark = "performance";
        fs::write(README, reference::put_between_marks(&text, mark, &figures.ratios()).ok_or(Failure::Marks(mark))?)?;
    }
    Ok(budgets.iter().all(budget::Budget::holds))
}
