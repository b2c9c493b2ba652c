//! The module where users run it: in a real policy server, called by a real API server, with what `artefacts` says about both.

#[cfg(test)]
mod failing;
#[cfg(test)]
mod injection;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod mesh;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod reinvocation;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod shipped;
#[cfg(test)]
mod telling;
