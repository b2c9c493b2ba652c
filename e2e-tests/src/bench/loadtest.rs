//! The program that sends one request many times, and what it says of it.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use linkerd_injector_policy::parse::duration::duration;
use thiserror::Error;

/// Why there is no figure.
#[derive(Debug, Error)]
pub enum LoadtestError {
    /// It does not run.
    #[error("loadtest does not run: {0}")]
    Run(#[from] std::io::Error),
    /// A request failed, or was denied.
    #[error("loadtest fails: {0}")]
    Failed(String),
    /// It says something else than figures.
    #[error("loadtest says {0:?}, which are no figures")]
    Unreadable(String),
}

/// What one run says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Requests a second.
    pub rate: f64,
    /// The time that half of the requests stay below.
    pub p50: Duration,
    /// The time that 99 of a hundred requests stay below.
    pub p99: Duration,
    /// CPU time that the server spent on a request, in all of its threads.
    pub cpu: Duration,
}

/// Who is asked.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Where.
    pub url: &'a str,
    /// The process that answers.
    pub pid: u32,
}

/// Sends the file `body` to `target`, `requests` times, one after another.
///
/// # Errors
/// The program does not run, or not all requests are allowed.
pub fn run(program: &Path, requests: u32, target: Target<'_>, body: &Path) -> Result<Load, LoadtestError> {
    let output = Command::new(program)
        .args(["-c", "1", "-n", &requests.to_string(), "-pid", &target.pid.to_string()])
        .arg(body)
        .arg(target.url)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(LoadtestError::Failed(said.lines().next().unwrap_or_default().chars().take(200).collect()));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    read(&said).ok_or_else(|| LoadtestError::Unreadable(said.chars().take(200).collect()))
}

/// Reads `n=50 c=2 rps=45 p50=44.006729ms p99=47.992794ms cpu/req=400µs`.
fn read(line: &str) -> Option<Load> {
    let value = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let time = |key: &str| {
        let nanoseconds = duration(value(key)?).ok()?.nanoseconds();
        Some(Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
    };
    Some(Load { rate: value("rps")?.parse().ok()?, p50: time("p50")?, p99: time("p99")?, cpu: time("cpu/req")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_program_says() {
        let load = read("n=50 c=2 rps=45 p50=44.006729ms p99=1.5s cpu/req=400µs\n").unwrap();
        let expected = Load {
            rate: 45.0,
            p50: Duration::from_nanos(44_006_729),
            p99: Duration::from_millis(1500),
            cpu: Duration::from_micros(400),
        };
        assert_eq!(load, expected);
        for line in
            ["", "n=50 c=2 rps=45 p50=44ms p99=47ms", "rps=x p50=1ms p99=1ms cpu/req=1ms", "rps=1 p50=-1ms p99=1ms cpu/req=1ms"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn says_why_there_are_no_figures() {
        let target = Target { url: "x", pid: 1 };
        let error = |program: &str| run(Path::new(program), 1, target, Path::new("x")).unwrap_err().to_string();
        assert!(error("/does/not/exist").starts_with("loadtest does not run: "));
        assert_eq!(error("/bin/false"), "loadtest fails: ");
        assert_eq!(error("/bin/true"), "loadtest says \"\", which are no figures");
    }
}
