//! The module on its own: figures, their tables, their budgets.

use std::fmt::Write as _;

use super::{
    budget::Budget,
    kilobytes, mebibytes,
    scenario::{Configuration, NOT_MESHED, TYPICAL_POD},
};
use crate::policy::Cost;

/// Bytes that the module may have without its metadata.
const MODULE_BUDGET: u64 = 700_000;

/// The figures of one request. Times are CPU time of the calling thread, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where the configuration comes from.
    pub configuration: Configuration,
    /// The request's name.
    pub scenario: &'static str,
    /// The module, with a new instance.
    pub guest: f64,
    /// The same code without WebAssembly.
    pub native: f64,
    /// The accept-everything module, with a new instance.
    pub accept_all: f64,
    /// What the module's instance counts.
    pub cost: Cost,
    /// What the accept-everything module's instance counts.
    pub accept_all_cost: Cost,
}

impl Row {
    /// How many times as much the module takes as the same code without WebAssembly.
    #[must_use]
    pub fn over_native(&self) -> f64 {
        self.guest / self.native
    }

    /// How many times as much the module takes as one that accepts everything.
    #[must_use]
    pub fn over_accept_all(&self) -> f64 {
        self.guest / self.accept_all
    }
}

/// All figures of one run. What a filter left out is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// One row a configuration and request.
    pub rows: Vec<Row>,
    /// Times of the module on pods with this many entries of an environment, the fewest first.
    pub growth: Vec<(usize, f64)>,
    /// Bytes of the module, without metadata.
    pub module: u64,
    /// Bytes of the accept-everything module, without metadata.
    pub accept_all: u64,
}

impl Figures {
    /// Every figure, as a table in Markdown.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| configuration | request | guest | × native | × accept-everything | instructions | accept-everything's | memory | accept-everything's |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.2} | {:.2} | {} | {} | {} | {} |",
                row.configuration.as_str(),
                row.scenario,
                milliseconds(row.guest),
                row.over_native(),
                row.over_accept_all(),
                thousands(row.cost.instructions),
                thousands(row.accept_all_cost.instructions),
                mebibytes(row.cost.memory),
                mebibytes(row.accept_all_cost.memory),
            );
        }
        let _ = writeln!(text, "\nmodule: {}, accept-everything: {}", kilobytes(self.module), kilobytes(self.accept_all));
        text
    }

    /// What holds on any machine, as a table in Markdown with one row a request.
    #[must_use]
    pub fn ratios(&self) -> String {
        let mut text = String::from(
            "| request | settings: × native | × accept-everything | memory | ConfigMaps: × native | × accept-everything | memory |\n\
             |---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in self.rows.iter().filter(|row| row.configuration == Configuration::Settings) {
            let _ = write!(text, "| {} ", row.scenario);
            for configuration in Configuration::ALL {
                let cells = self.row(configuration, row.scenario).map_or_else(
                    || "| | | ".to_owned(),
                    |row| format!("| {:.1} | {:.1} | {} ", row.over_native(), row.over_accept_all(), mebibytes(row.cost.memory)),
                );
                text.push_str(&cells);
            }
            text.push_str("|\n");
        }
        let _ = writeln!(
            text,
            "\nThe module has {}, the accept-everything one {}.",
            kilobytes(self.module),
            kilobytes(self.accept_all)
        );
        text
    }

    /// The budgets on what was measured.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for configuration in Configuration::ALL {
            let from = configuration.as_str();
            if let Some(row) = self.row(configuration, TYPICAL_POD.name) {
                budgets.push(Budget::at_most(2.5, row.over_native(), format!("guest over native, {}, {from}", row.scenario)));
            }
            if let Some(row) = self.row(configuration, NOT_MESHED.name) {
                let what = format!("guest over accept-everything, {}, {from}", row.scenario);
                budgets.push(Budget::at_most(1.2, row.over_accept_all(), what));
            }
        }
        if let Some(ratio) = self.slope_ratio() {
            budgets.push(Budget::at_most(
                1.2,
                ratio,
                "slope of the second half over that of the first, 1 to 2,000 entries of an env",
            ));
        }
        let size = |bytes: u64| u32::try_from(bytes.div_ceil(1000)).map_or(f64::INFINITY, f64::from);
        budgets.push(Budget::at_most(size(MODULE_BUDGET), size(self.module), "module without metadata, in KB"));
        budgets
    }

    /// How much steeper the time grows between the last two points than between the first two.
    fn slope_ratio(&self) -> Option<f64> {
        let [first, second, third] = *self.growth.as_slice() else { return None };
        Some(slope(second, third)? / slope(first, second)?)
    }

    fn row(&self, configuration: Configuration, scenario: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.configuration == configuration && row.scenario == scenario)
    }
}

fn slope((from, before): (usize, f64), (to, after): (usize, f64)) -> Option<f64> {
    let steps = u32::try_from(to.checked_sub(from)?).ok()?;
    Some((after - before) / f64::from(steps))
}

/// A count in thousands.
fn thousands(count: u64) -> String {
    format!("{} k", count.div_ceil(1000))
}

fn milliseconds(nanoseconds: f64) -> String {
    format!("{:.3} ms", nanoseconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_figures() -> Figures {
        let row = |configuration, scenario, guest| Row {
            configuration,
            scenario,
            guest,
            native: 100_000.0,
            accept_all: 50_000.0,
            cost: Cost { memory: 20 * 65_536, instructions: 1_234_567 },
            accept_all_cost: Cost { memory: 17 * 65_536, instructions: 89_000 },
        };
        Figures {
            rows: vec![
                row(Configuration::Settings, NOT_MESHED.name, 60_000.0),
                row(Configuration::Settings, TYPICAL_POD.name, 250_000.0),
                row(Configuration::ConfigMaps, NOT_MESHED.name, 61_000.0),
                row(Configuration::ConfigMaps, TYPICAL_POD.name, 251_000.0),
            ],
            growth: vec![(1, 1000.0), (1000, 10_990.0), (2000, 22_990.0)],
            module: 700_000,
            accept_all: 65_561,
        }
    }

    fn exceeded(figures: &Figures) -> Vec<String> {
        figures.budgets().into_iter().filter(|budget| !budget.holds()).map(|budget| budget.what).collect()
    }

    #[test]
    fn each_budget_is_on_its_figure() {
        let mut figures = mk_figures();
        let expected =
            ["guest over accept-everything, not meshed, no ports, ConfigMaps", "guest over native, typical pod, ConfigMaps"];
        let mut found = exceeded(&figures);
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(figures.budgets().len(), 6);

        figures.rows.truncate(2);
        assert_eq!(exceeded(&figures), [""; 0]);
        assert_eq!(figures.budgets().len(), 4, "what is not measured has no budget");

        figures.growth[2].1 = 23_000.0;
        figures.module = 700_001;
        let what =
            ["slope of the second half over that of the first, 1 to 2,000 entries of an env", "module without metadata, in KB"];
        assert_eq!(exceeded(&figures), what);

        figures.growth.pop();
        assert_eq!(figures.budgets().len(), 3);
    }

    #[test]
    fn the_table_has_every_figure_and_the_readme_every_ratio() {
        let figures = mk_figures();
        let expected = "\
| configuration | request | guest | × native | × accept-everything | instructions | accept-everything's | memory | accept-everything's |
|---|---|--:|--:|--:|--:|--:|--:|--:|
| settings | not meshed, no ports | 0.060 ms | 0.60 | 1.20 | 1235 k | 89 k | 1.2 MiB | 1.1 MiB |
| settings | typical pod | 0.250 ms | 2.50 | 5.00 | 1235 k | 89 k | 1.2 MiB | 1.1 MiB |
| ConfigMaps | not meshed, no ports | 0.061 ms | 0.61 | 1.22 | 1235 k | 89 k | 1.2 MiB | 1.1 MiB |
| ConfigMaps | typical pod | 0.251 ms | 2.51 | 5.02 | 1235 k | 89 k | 1.2 MiB | 1.1 MiB |

module: 700 KB, accept-everything: 66 KB
";
        assert_eq!(figures.table(), expected);
        let ratios = figures.ratios();
        assert!(ratios.contains("| typical pod | 2.5 | 5.0 | 1.2 MiB | 2.5 | 5.0 | 1.2 MiB |\n"), "{ratios}");
        assert!(!ratios.contains(" ms"), "{ratios}");
    }
}
