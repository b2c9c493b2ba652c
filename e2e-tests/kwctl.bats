#!/usr/bin/env bats
# The annotated module in the real kwctl, as a user runs it. The sessions are those of the tests in Rust, see src/sessions.rs.

setup_file() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  # Nothing is signed here, and an empty trust configuration keeps kwctl from fetching Sigstore's over the network.
  echo '{}' > "$BATS_FILE_TMPDIR/trust.json"
  export TRUST=$BATS_FILE_TMPDIR/trust.json HOME=$BATS_FILE_TMPDIR MODULE=artefacts/build/annotated-policy.wasm
  unset KUBECONFIG
}

setup() {
  local program
  for program in kwctl jq; do
    command -v $program > /dev/null || skip "$program is not on PATH"
  done
  cd "$BATS_TEST_DIRNAME/.."
  [ -f $MODULE ] || skip "$MODULE is not built"
  work=$BATS_TEST_TMPDIR
}

# answers SESSION: kwctl's answer to the request is that of the session.
answers() {
  local session=e2e-tests/sessions/$1
  kwctl run --sigstore-trust-config "$TRUST" --request-path "$session/request.json" --settings-path "$session/settings.json" \
    --allow-context-aware --replay-host-capabilities-interactions "$session/session.yml" $MODULE > "$work/printed" 2> "$work/log"
  if grep 'Replay error' "$work/log"; then return 1; fi
  jq -S --slurpfile request "$session/request.json" -f e2e-tests/answer.jq "$work/printed" > "$work/answer"
  diff <(jq -S . "$session/answer.json") "$work/answer"
}

@test "run injects a native sidecar" {
  answers inject-native-sidecar
}

@test "run injects with the CNI plugin" {
  answers inject-with-cni
}

@test "run finds the owner of a Deployment's pod" {
  answers inject-owned-by-deployment
}

@test "run finds the owner of a CronJob's pod" {
  answers inject-owned-by-cronjob
}

@test "run injects though the owner is missing" {
  answers inject-owner-missing
}

@test "run warns of an annotation that it does not use" {
  answers inject-with-warning
}

@test "run takes off an annotation that the settings forbid" {
  answers forbid-annotation
}

@test "run rejects an annotation where the settings say so" {
  answers reject-invalid-annotation
}

@test "run annotates a service" {
  answers service
}

@test "run leaves a pod on the host's network alone" {
  answers skip-host-network
}

@test "run gives a skipped pod its opaque ports" {
  answers skip-with-opaque-ports
}

@test "run answers the example requests with the example settings" {
  local request
  for request in pod-create service-create; do
    kwctl run --sigstore-trust-config "$TRUST" --request-path artefacts/examples/$request.json \
      --settings-path artefacts/examples/settings-offline.yaml $MODULE 2> /dev/null > "$work/printed"
    jq -e '.allowed and .patch' "$work/printed"
  done
}

@test "run refuses settings that cannot be used, all at once" {
  run kwctl run --sigstore-trust-config "$TRUST" --request-path artefacts/examples/pod-create.json \
    --settings-json '{"onErrors": "skip", "onError": "explode", "source": 7}' $MODULE
  [ "$status" -eq 1 ]
  [[ $output == *'Provided settings are not valid: '* ]]
  local fault
  for fault in '"onErrors" is not a setting' 'onError is not one of reject, skip' 'source is not one of cluster, settings'; do
    [[ $output == *"$fault"* ]]
  done
}

@test "annotate writes what the build wrote" {
  kwctl annotate -m policy-metadata.yml -u README.md -o "$work/annotated.wasm" artefacts/build/policy.wasm
  cmp "$work/annotated.wasm" $MODULE
}

@test "inspect shows the metadata" {
  kwctl inspect -o yaml $MODULE > "$work/inspected.yml"
  local line
  for line in 'mutating: true' 'backgroundAudit: false' 'executionMode: kubewarden-wapc' 'minimumKubewardenVersion: 1.35.0' \
    'protocolVersion: v1' "  io.kubewarden.policy.version: $(.ci/version)" '- kubernetes/get_resource'; do
    grep -qxF -- "$line" "$work/inspected.yml" || { echo "no line: $line"; cat "$work/inspected.yml"; return 1; }
  done
}

@test "scaffold manifest writes a policy that looks up what the shipped one does" {
  kwctl scaffold manifest -t ClusterAdmissionPolicy --allow-context-aware $MODULE > "$work/manifest.yml"
  grep -qx '  name: linkerd-injector-policy' "$work/manifest.yml"
  grep -qx '  mutating: true' "$work/manifest.yml"
  kinds() { grep -o 'kind: .*' "$1" | sort; }
  diff <(kinds "$work/manifest.yml") <(kinds artefacts/cluster-admission-policy.yaml)
}

@test "scaffold artifacthub writes the shipped package file" {
  .ci/artifacthub "$work/artifacthub-pkg.yml"
  diff <(grep -v '^createdAt: ' artefacts/artifacthub-pkg.yml) <(grep -v '^createdAt: ' "$work/artifacthub-pkg.yml") ||
    { echo 'make artifacthub writes it anew'; return 1; }
}

@test "bench times a request that looks nothing up" {
  kwctl bench --sigstore-trust-config "$TRUST" --warm-up-time 1 --measurement-time 1 --request-path artefacts/examples/pod-create.json \
    --settings-path artefacts/examples/settings-offline.yaml $MODULE > "$work/printed" 2> "$work/log"
  [ "$(cat "$work/printed" "$work/log" | grep -c 'iterations in')" -eq 2 ] # the settings and the request
}
