#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks the manifest for Kubernetes and the Helm chart, without helm and without an API server.
. "$(dirname "$0")/lib.sh"
if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
	echo "ok 1 - the manifest # SKIP no python3-yaml"
	echo "1..1"
	exit
fi
exec /usr/bin/python3 tests/check/kubernetes.py
