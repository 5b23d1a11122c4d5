#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 3000
# needs: root bpf fuse
# Runs packages.sh for Debian 13, whose compilers build the packages.
CODENAME=trixie exec bash "$(dirname "$0")/packages.sh"
