#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 3000
# needs: root bpf fuse
# The Debian packages of Debian 13, built there by its compilers (packages.sh).
CODENAME=trixie exec bash "$(dirname "$0")/packages.sh"
