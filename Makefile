# SPDX-License-Identifier: MIT
# A thin front: meson and ninja do the work.
#
#   make            install what building and running need and this machine lacks (DEPS=no
#                   forbids), configure, build into build/
#   make demo       an LC and a BE program share a GPU, before and after (simulated GPU)
#   make check      what each commit has to pass, in at most 3 minutes after a build; last line as make
#                   test
#   make test       all that needs no virtual machine; last line: N passed, N failed, N skipped
#   make test-release  what a release has to pass besides: packages on a fresh Debian 12
#                   and 13, the container image, Slurm
#   make cross      builds for ARCH=arm64 into build-arm64/, with a cross compiler
#   make cross-test its unit tests that need no BPF, under QEMU; last line as make test
#   make vm-test    in virtual machines; ARCH=arm64: in arm64 ones, with what make cross builds
#   make agent-test  the part about agents, hints and gpreempt; last line as make test
#   make bench      measure the budgets here
#   make pictures   the pictures of README.md and docs/account.md, from this version
#   make format     let clang-format rewrite the C files
#   make lint       format, licences, sizes, static analysis
#   make bundle     build/ and its libraries packed for a machine without them
#   make deb        Debian packages of the tree as it is, in build/deb
#   make image      a container image, an OCI archive in build/image
#   make release    version, changelog, commit, tag and archive; ARGS=--dry-run only shows them
#   make install    DESTDIR= PREFIX=
#   make uninstall  what the last `make install` put there
BUILD ?= build
PREFIX ?= /usr
DESTDIR ?=
SHELL := /bin/bash
ARCH ?= $(if $(filter cross%,$(MAKECMDGOALS)),arm64)
SUDO := $(if $(filter 0,$(shell id -u)),,$(shell command -v sudo))

.PHONY: cross cross-deps cross-test format all deps test-deps deb-deps image-deps image demo check test test-release agent-test vm-test bench pictures lint bundle deb release install uninstall clean
all: deps $(BUILD)/build.ninja
	@ninja -C $(BUILD)

deps:
	@tools/deps.sh

test-deps:
	@tools/deps.sh --test

deb-deps:
	@tools/deps.sh --deb

cross-deps:
	@tools/deps.sh --cross

image-deps:
	@tools/deps.sh --image

$(BUILD)/build.ninja: | deps
	@meson setup --prefix=$(PREFIX) $(BUILD)

demo: deps $(BUILD)/build.ninja
	@ninja -C $(BUILD) demo
	@$(SUDO) $(BUILD)/gpusched demo $(ARGS)

check: test-deps
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) tests/run.sh -s quick $(ARGS)

test: test-deps
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) tests/run.sh $(ARGS)

test-release: test-deps deb-deps image-deps cross-deps
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) tests/run.sh -s release,cross $(ARGS)

agent-test: test-deps
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) tests/run.sh -s unit,e2e,check agent gpreempt headers

cross: cross-deps
	@BUILD=$(BUILD) tools/cross.sh $(ARCH)

cross-test: cross test-deps
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) tests/run.sh -s cross $(ARGS)

vm-test: test-deps $(if $(ARCH),cross)
	@BUILD=$(BUILD) ARCH=$(ARCH) $(if $(SUDO),$(SUDO) -E) tests/run.sh -s vm $(ARGS)

bench: all
	@BUILD=$(BUILD) $(if $(SUDO),$(SUDO) -E) bench/local/run.sh $(ARGS)

pictures: all test-deps
	@$(SUDO) tools/pictures.sh $(BUILD)

lint: test-deps
	@BUILD=$(BUILD) tests/run.sh -s check

format:
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format-14 -i

bundle: all
	@BUILD=$(BUILD) tools/bundle.sh

deb: deb-deps
	@tools/deb.sh $(BUILD)

image: all image-deps
	@tools/image.sh $(BUILD)

release:
	@tools/release.sh $(ARGS)

install: all
	@meson configure --prefix=$(PREFIX) $(BUILD) && ninja -C $(BUILD)
	@DESTDIR=$(DESTDIR) meson install --no-rebuild -C $(BUILD)

uninstall:
	@ninja -C $(BUILD) uninstall >/dev/null
	@tools/remains.sh

clean:
	@rm -rf $(BUILD) build-asan build-fuzz build-arm64 bundle
