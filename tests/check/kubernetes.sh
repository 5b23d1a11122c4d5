#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# The manifest for Kubernetes, and its Helm chart. No helm and no API server here.
. "$(dirname "$0")/lib.sh"
if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
	echo "ok 1 - the manifest # SKIP no python3-yaml"
	echo "1..1"
	exit
fi
exec /usr/bin/python3 tests/check/kubernetes.py
