#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1500
# needs: root
# Checks the manifest and the chart with Kubernetes' own types and helm's template functions. A small
# program in Go does this, built from Debian 13's packages in a fresh system. helm itself does not run.
. "$(dirname "$0")/../e2e/lib.sh"
if [ -z "${ALONE:-}" ]; then
	rmdir "$scratch"
	ALONE=yes exec unshare --mount --propagation private bash "$self"
fi
CODENAME=trixie
. "$(dirname "$0")/lib.sh"
begin_systems
fresh go sysfs:sys
install() {
	in_system go apt-get update -qq && in_system go apt-get install -qq -y --no-install-recommends golang-go golang-k8s-api-dev \
		golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev >"$scratch/apt.log" 2>&1
}
exits 0 "Debian 13 has Go, Kubernetes' types and sprig" install || { diag "$(tail -3 "$scratch/apt.log")"; done_testing; }
mkdir "$systems/go/test"
cp -a "$top/integrations/kubernetes/." "$top/tests/release/kubernetes.go" "$systems/go/test/"
exits 0 "the program is built" in_system go env HOME=/root GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS=-buildvcs=false \
	go build -gcflags='all=-N -l' -ldflags=-w -o /test/kubernetes /test/kubernetes.go || done_testing
diag "$(in_system go dpkg-query -W -f '${Package} ${Version}\n' golang-k8s-api-dev golang-github-masterminds-sprig-dev | tr '\n' ' ')"
kubernetes() { # ARGUMENTS...: runs the Go program; prints the documents, sorted
	in_system go /test/kubernetes "$@" >"$scratch/docs" || return 1
	jq -cS . "$scratch/docs" | sort
}

exits 0 "the manifest decodes strictly" kubernetes /test/gpusched.yaml
is "$(kubernetes /test/gpusched.yaml | jq -r .kind | sort | tr '\n' ' ')" "ConfigMap DaemonSet DaemonSet Namespace " \
	"it has a namespace, a configuration and two DaemonSets"
sed 's/readOnlyRootFilesystem/readOnlyRoot/' "$systems/go/test/gpusched.yaml" >"$systems/go/test/wrong.yaml"
exits 1 "a field that Kubernetes does not have is found" kubernetes /test/wrong.yaml
sed 's/^  name: gpusched-guardian$/&\n&/' "$systems/go/test/gpusched.yaml" >"$systems/go/test/twice.yaml"
exits 1 "a key that is there twice is found" kubernetes /test/twice.yaml

values() { # NAME: makes a file of values from the input
	cat >"$systems/go/test/$1.yaml"
}
echo '{}' | values default
is "$(kubernetes /test/chart /test/default.yaml)" "$(kubernetes /test/gpusched.yaml | jq -cS 'select(.kind != "Namespace")' | sort)" \
	"the chart with its own values makes what the manifest has"
values other <<-YAML
	image: { repository: registry.example/gpu/gpusched, tag: "1.2.3", pullPolicy: Always }
	nodeSelector: { pool: gpu, "kubernetes.io/arch": amd64 }
	tolerations: [ { key: nvidia.com/gpu, operator: Equal, value: "true", effect: NoSchedule } ]
	priorityClassName: ""
	service: { port: 9500 }
	resources: { requests: { cpu: "1", memory: 1Gi } }
YAML
values odd <<-'YAML'
	image: { tag: "007" }
	tolerations: []
	nodeSelector: {}
	config: |
	  # "quotes", {{ braces }}: and 'others' $HOME
	  [Classes]
	  DefaultClass = be
YAML
of() { # VALUES FILTER
	kubernetes /test/chart "/test/$1.yaml" | jq -rs "$2"
}
is "$(of other '[.[] | .spec.template.spec.containers[]?.image] | unique | join(" ")')" registry.example/gpu/gpusched:1.2.3 \
	"an image takes its place everywhere"
is "$(of other '[.[] | .spec.template.spec | select(.) | .tolerations[0].key + " " + .nodeSelector.pool] | unique | join(",")')" \
	"nvidia.com/gpu gpu" "so do tolerations and labels of nodes"
is "$(of other '[.[] | .spec.template.spec.containers[]? | select(.name == "exporter") | .ports[0].containerPort, .command[-1]] | map(tostring) | join(" ")')" \
	"9500 0.0.0.0:9500" "the exporter's port is a number"
is "$(of odd '[.[] | .spec.template.spec.containers[]?.image] | unique | join(" ")')" gpusched:007 "a tag of digits stays a text"
like "$(of odd '.[] | select(.kind == "ConfigMap").data["gpusched.conf"]')" '^# "quotes", \{\{ braces \}\}' \
	"a configuration with quotes and braces stays as it is"
echo 'image: none' | values none
exits 1 "values of another form are refused" kubernetes /test/chart /test/none.yaml
done_testing
