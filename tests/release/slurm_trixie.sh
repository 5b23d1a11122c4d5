#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 3000
# needs: root bpf fuse
# Runs slurm.sh with Slurm 24.11 of Debian 13.
CODENAME=trixie exec bash "$(dirname "$0")/slurm.sh"
