// What Linkerd's own packages make of the corpus' cases. `make corpus LINKERD2=DIR` builds it against the clone in DIR: it puts that
// folder in place of the one below, and takes the versions of all other modules from the clone's go.mod.
module github.com/linkerd-injector-policy/linkerd-injector-policy/e2e-tests/oracle

go 1.26.0

require github.com/linkerd/linkerd2 v0.0.0

replace github.com/linkerd/linkerd2 => ../../../linkerd2
