# Every step of development, of CI and of a release is a verb here; `make help` lists them.
# CARGO_TARGET_DIR is respected; MODULE_BUILD=rustup|debian says how the module is compiled (see .ci/build-module).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

module := artefacts/build/policy.wasm
annotated := artefacts/build/annotated-policy.wasm
accept_all := artefacts/build/accept-all.wasm
annotated_accept_all := artefacts/build/annotated-accept-all.wasm
# Progress for a person, silence for a file.
quiet := $(shell test -t 2 || echo --quiet)
run := cargo run --release --locked $(quiet) --package e2e-tests --bin

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(module) ## build the module and show what it does to artefacts/examples/shop.yaml
	@$(run) preview -- --wasm $(module) --cluster artefacts/examples/cluster --diff --color always -f artefacts/examples/shop.yaml

.PHONY: test
test: ## everything that must pass, with a count of the tests at the end
	@.ci/test fmt lint deny unit build e2e e2e-tests conformance

.PHONY: test-e2e
test-e2e: ## of that, what needs the module
	@.ci/test build e2e e2e-tests conformance

.PHONY: fmt
fmt: ## check the formatting (`cargo fmt --all` mends it)
	@cargo fmt --all --check

.PHONY: lint
lint: ## clippy, warnings are errors
	@cargo clippy --release --workspace --all-targets --locked $(quiet) -- --deny warnings

.PHONY: deny
deny: ## licences, bans, sources and advisories of the dependencies, with cargo-deny where it is on PATH
	@.ci/deny

.PHONY: unit
unit: ## the policy's own tests, natively
	@cargo test --locked $(quiet) --package linkerd-injector-policy --no-fail-fast

.PHONY: build
build: $(annotated) ## the module: artefacts/build/policy.wasm, and annotated-policy.wasm for a policy server

.PHONY: e2e
e2e: $(annotated) ## the module in a host, and with the real programs that are on PATH
	@cargo test --release --locked $(quiet) --package e2e-tests --no-fail-fast

.PHONY: e2e-tests
e2e-tests: $(annotated) ## the module in kwctl, with bats
	@.ci/bats e2e-tests/*.bats

.PHONY: conformance
conformance: $(module) ## every case of the corpus against Linkerd's own result, natively and through the module
	@$(run) conformance -- --complete

.PHONY: corpus
corpus: ## Linkerd's results anew, from a clone of linkerd/linkerd2: LINKERD2=DIR; UPDATE=yes keeps them
	@.ci/corpus "$(LINKERD2)"

.PHONY: fuzz
fuzz: ## let libFuzzer look for what does not hold: TARGET=request, settings, annotations, values or record; SECONDS_EACH=60
	@.ci/fuzz "$(TARGET)" "$(or $(SECONDS_EACH),60)"

# Neither is part of `make test`: what they say is worth as much as the machine is quiet.
.PHONY: bench
bench: $(module) $(accept_all) ## time and memory of the module, one table and its budgets; UPDATE_README=1 writes the ratios there
	@cargo bench --locked $(quiet) --package e2e-tests --bench guest -- --quiet

.PHONY: bench-server
bench-server: $(annotated) $(annotated_accept_all) ## the module in a policy-server beside Linkerd's injector, with the real programs that are on PATH
	@$(run) bench-server

.PHONY: serve
serve: $(annotated) ## run the module in a policy-server on this machine
	@.ci/serve $(annotated)

.PHONY: push
push: $(annotated) ## push the module: REGISTRY=ghcr.io/OWNER/policies; TAG=…, SOURCES=FILE of kwctl
	@.ci/push $(annotated) "$(REGISTRY)"

.PHONY: sign
sign: ## sign what was pushed last, with cosign
	@.ci/sign

.PHONY: sbom
sbom: $(module) ## the list of what the module is made of, with syft
	@.ci/sbom $(module)

.PHONY: artifacthub
artifacthub: ## artefacts/artifacthub-pkg.yml from the metadata, with kwctl
	@.ci/artifacthub

.PHONY: release-check
release-check: ## fail unless TAG=v… is the version that all files name and the change log tells of
	@.ci/release check "$(TAG)"

.PHONY: release
release: ## the GitHub release of TAG=v…, with what was built, signed and listed
	@.ci/release github "$(TAG)"

.PHONY: release-artifacthub
release-artifacthub: ## add this version to the branch that Artifact Hub reads
	@.ci/release artifacthub

.PHONY: tools
tools: ## install what the tests call and Debian has
	@.ci/tools

.PHONY: clean
clean: ## remove what the verbs above made
	@cargo clean $(quiet)
	@rm -rf artefacts/build

# Cargo decides whether there is something to compile, and the file changes only when the module does.
.PHONY: cargo-decides
$(module): cargo-decides
	@.ci/build-module $@

$(accept_all): cargo-decides
	@.ci/build-module $@ accept-all

$(annotated_accept_all): $(accept_all) e2e-tests/accept-all/metadata.yml .ci/annotate
	@.ci/annotate $(accept_all) $@ e2e-tests/accept-all/metadata.yml

$(annotated): $(module) policy-metadata.yml README.md .ci/annotate
	@.ci/annotate $(module) $@
