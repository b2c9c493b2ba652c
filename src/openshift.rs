//! The user that OpenShift lets the proxy run as.
//!
//! In: the range of user ids that a namespace was given, as its annotation `openshift.io/sa.scc.uid-range` says. Out: the proxy's.

use crate::parse::integer::MAX_ID;
use crate::values::{Values, validator_security_context};

/// A range of user ids, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UidRange {
    first: i64,
    last: i64,
}

impl UidRange {
    /// Reads `START/LENGTH` or `START-END`; `None` for anything else, and for ids that no container may have.
    pub(crate) fn read(text: &str) -> Option<UidRange> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|n| (1..=MAX_ID).contains(n));
        let (first, last) = match text.split_once('/') {
            Some((first, length)) => {
                let first = number(first)?;
                (first, first.checked_add(number(length)?)?.checked_sub(1)?)
            }
            None => {
                let (first, last) = text.split_once('-')?;
                (number(first)?, number(last)?)
            }
        };
        (first <= last && last <= MAX_ID).then_some(UidRange { first, last })
    }

    /// Whether a user may be used.
    pub(crate) fn contains(self, uid: i64) -> bool {
        (self.first..=self.last).contains(&uid)
    }

    /// The proxy's: the second, for the first is what OpenShift gives containers that ask for none, and what the proxy's user sends is
    /// not redirected to the proxy. `None` for a range of one.
    pub(crate) fn of_proxy(self) -> Option<i64> {
        self.first.checked_add(1).filter(|uid| self.contains(*uid))
    }
}

/// Gives the proxy, and the validator as far as values leave it as it is, a user of the range.
pub(crate) fn run_as(values: &mut Values, uid: i64) {
    values.proxy.uid = uid;
    let validator = &mut values.network_validator;
    let default = validator_security_context();
    if validator.enable_security_context && (validator.security_context.is_empty() || validator.security_context == default) {
        validator.security_context = default;
        validator.security_context.insert("runAsUser".to_owned(), uid.into());
    }
}

#[cfg(test)]
mod tests {
    use super::{UidRange, run_as};
    use crate::values::Values;

    #[test]
    fn ranges_are_read_in_both_forms() {
        for (text, range, proxy) in [
            ("1001060000/10000", Some((1_001_060_000, 1_001_069_999)), Some(1_001_060_001)),
            ("1000-1999", Some((1000, 1999)), Some(1001)),
            ("1000/1", Some((1000, 1000)), None),
            ("1000-1000", Some((1000, 1000)), None),
            ("1000/2", Some((1000, 1001)), Some(1001)),
            ("2147483647/1", Some((2_147_483_647, 2_147_483_647)), None),
            ("2147483647/2", None, None),
            ("0/10", None, None),
            ("10-9", None, None),
            ("-5/10", None, None),
            ("1000/0", None, None),
            ("1000", None, None),
            ("", None, None),
            ("a/b", None, None),
            ("9223372036854775807/9223372036854775807", None, None),
        ] {
            let read = UidRange::read(text);
            assert_eq!(read.map(|r| (r.first, r.last)), range, "{text}");
            assert_eq!(read.and_then(UidRange::of_proxy), proxy, "{text}");
        }
    }

    #[test]
    fn the_validator_runs_as_the_proxys_user_unless_values_say_otherwise() {
        let mut values = Values::default();
        run_as(&mut values, 7);
        assert_eq!(values.proxy.uid, 7);
        assert_eq!(values.network_validator.security_context["runAsUser"], 7);
        assert_eq!(values.network_validator.security_context["runAsGroup"], 65534);
        let mut given = Values::default();
        given.network_validator.security_context.insert("runAsUser".to_owned(), 9.into());
        run_as(&mut given, 7);
        assert_eq!(given.network_validator.security_context["runAsUser"], 9);
    }
}
