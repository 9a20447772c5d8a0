# The only door. Each target is a preset or a script; README and CI call the same ones.
SHELL := /bin/bash
BUILD := build/release
# Tests at a time: one more than cores, since many wait for a lease, a server or a JVM.
JOBS ?= $(shell expr $$(nproc) + 1)

.PHONY: setup setup-test build unit test demo check bench bench-micro soak test-asan test-tsan fuzz dist clean

setup:            ## install what a build needs (Debian 12: apt, and a venv with the pinned wheel)
	tools/install_deps.sh

setup-test:       ## setup, plus what the tests need: servers, a JDK, the Java referee, PyIceberg
	tools/install_deps.sh test

build: setup      ## the program: build/release/bin/icewright
	cmake --preset release >/dev/null
	cmake --build --preset release

unit: build       ## tests without services, under three minutes
	tools/run_tests.py $(BUILD) --label-exclude 'service|slow|e2e' --jobs $(JOBS)

test: setup-test  ## everything but the slow tests
	cmake --preset release >/dev/null
	cmake --build --preset release
	tools/run_tests.py $(BUILD) --label-exclude slow --jobs $(JOBS)

soak: setup-test  ## the slow tests: full-size random histories and storms
	cmake --preset release >/dev/null
	cmake --build --preset release
	tools/run_tests.py $(BUILD) --label slow --jobs 1

test-asan: setup  ## unit tests under AddressSanitizer and UBSan
	cmake --preset dev >/dev/null
	cmake --build --preset dev
	ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/testing/lsan.supp \
	  tools/run_tests.py build/dev --label-exclude 'service|slow|e2e' --jobs $(JOBS)

test-tsan: setup  ## unit tests under ThreadSanitizer
	cmake --preset tsan >/dev/null
	cmake --build --preset tsan
	TSAN_OPTIONS=suppressions=$(CURDIR)/testing/tsan.supp \
	  tools/run_tests.py build/tsan --label-exclude 'service|slow|e2e' --jobs $(JOBS)

fuzz:             ## each fuzz target for FUZZ_SECONDS (60) seconds, from its corpus
	tools/install_deps.sh fuzz
	cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz
	tools/run_fuzzers.sh build/fuzz $(or $(FUZZ_SECONDS),60)

demo: build       ## compact a real table written by Flink, before and after
	tools/demo.sh

check: setup      ## format, layers, sizes, banned calls, docs; runs no tests
	tools/check.py

bench: setup-test build ## table-sized benchmarks; one JSON line each, also in build/bench/results.jsonl
	bench/run.py

bench-micro: setup ## micro-benchmarks of the modules
	cmake --preset bench >/dev/null
	cmake --build --preset bench
	for b in build/bench-micro/bin/*_bench; do $$b; done

dist: build       ## dist/icewright: a folder that runs without the venv
	tools/make_dist.sh $(BUILD) dist/icewright

clean:
	rm -rf build dist
