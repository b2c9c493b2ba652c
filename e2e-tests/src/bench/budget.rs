//! Bounds on figures, as checks that say their figure.

use std::fmt::{self, Write as _};

/// Which side of a bound is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// A figure and its bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// What was measured, over what.
    pub what: String,
    /// The figure.
    pub figure: f64,
    /// Its bound.
    pub bound: Bound,
}

impl Budget {
    /// A figure that may be no more than `bound`.
    #[must_use]
    pub fn at_most(bound: f64, figure: f64, what: impl Into<String>) -> Self {
        Self { what: what.into(), figure, bound: Bound::AtMost(bound) }
    }

    /// A figure that may be no less than `bound`.
    #[must_use]
    pub fn at_least(bound: f64, figure: f64, what: impl Into<String>) -> Self {
        Self { what: what.into(), figure, bound: Bound::AtLeast(bound) }
    }

    /// Whether the figure is within its bound; one that is none is not.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(bound) => self.figure <= bound,
            Bound::AtLeast(bound) => self.figure >= bound,
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "holds" } else { "EXCEEDED" };
        let (sign, bound) = match self.bound {
            Bound::AtMost(bound) => ('≤', bound),
            Bound::AtLeast(bound) => ('≥', bound),
        };
        let (figure, bound) = (figure(self.figure), figure(bound));
        write!(f, "{verdict:<8}  {figure:>7} {sign} {bound:<6}  {}", self.what)
    }
}

/// Three digits of a ratio, all digits of a count.
fn figure(number: f64) -> String {
    if number.fract() == 0.0 && number >= 10.0 || number == 0.0 { format!("{number}") } else { format!("{number:.2}") }
}

/// One line a budget.
#[must_use]
pub fn report(budgets: &[Budget]) -> String {
    let mut text = String::new();
    for budget in budgets {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{budget}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_the_good_side() {
        let table = [
            (Budget::at_most(1.4, 1.4, ""), true),
            (Budget::at_most(1.4, 1.401, ""), false),
            (Budget::at_most(1.4, f64::NAN, ""), false),
            (Budget::at_least(10.0, 10.0, ""), true),
            (Budget::at_least(10.0, 9.99, ""), false),
            (Budget::at_least(10.0, f64::NAN, ""), false),
        ];
        for (budget, holds) in table {
            assert_eq!(budget.holds(), holds, "{budget}");
        }
    }

    #[test]
    fn a_report_says_figure_bound_and_verdict() {
        let budgets = [
            Budget::at_most(1.4, 1.326, "CPU"),
            Budget::at_least(10.0, 9.5, "Linkerd"),
            Budget::at_most(700.0, 856.0, "KB"),
            Budget::at_most(0.0, 0.0, "failures"),
        ];
        let expected = "\
holds        1.33 ≤ 1.40    CPU
EXCEEDED     9.50 ≥ 10      Linkerd
EXCEEDED      856 ≤ 700     KB
holds           0 ≤ 0       failures
";
        assert_eq!(report(&budgets), expected);
    }
}
