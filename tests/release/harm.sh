#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 7200
# As policy/harm.sh, with 10,000 seeds on all processors.
SEEDS=${SEEDS:-10000} JOBS=$(nproc) exec bash "$(dirname "$0")/../policy/harm.sh"
