# A thin front: CMake builds, CTest tests, scripts/ holds the rest.
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
NATIVE  ?= OFF
FLAGS    = -DTANDEM_NATIVE=$(NATIVE)

.PHONY: help setup build demo test test-asan test-tsan test-gpu test-gpu-sanitize test-python fuzz bench install clean

help:
	@echo 'make demo                  set up, build, and show what Tandem does'
	@echo 'make test                  set up, build, run all tests'
	@echo 'make build                 set up and build; the tool is $(BUILD)/tandem'
	@echo 'make test-asan             all tests under AddressSanitizer and UBSan'
	@echo 'make test-tsan             all tests under ThreadSanitizer'
	@echo 'make test-gpu              the tests that need an NVIDIA GPU and nvcc'
	@echo 'make test-gpu-sanitize     every GPU kernel under compute-sanitizer'
	@echo 'make test-python           the Python package with everything from PyPI, and NetworkX'\''s own suite'
	@echo 'make fuzz SECONDS=600      every reader and checkpoints against forged input, and drawn runs, that long each'
	@echo 'make bench                 tandem bench convert: parsing, building, opening'
	@echo 'make install PREFIX=/usr/local DESTDIR='
	@echo 'make NATIVE=ON ...         for this machine'\''s processor alone'
	@echo 'make clean                 remove the build folders'

setup:
	@scripts/setup.sh

build: setup
	@scripts/build.sh $(BUILD) $(FLAGS) -DTANDEM_TESTS=ON

demo: setup
	@scripts/build.sh $(BUILD) $(FLAGS) tandem_cli
	@scripts/demo.sh $(abspath $(BUILD))/tandem

test: build
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $$(nproc)

test-asan: setup
	@scripts/build.sh build-asan -DTANDEM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DTANDEM_SANITIZE=address,undefined
	@ctest --test-dir build-asan --output-on-failure --parallel $$(nproc)

test-tsan: setup
	@scripts/build.sh build-tsan -DTANDEM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DTANDEM_SANITIZE=thread
	@ctest --test-dir build-tsan --output-on-failure --parallel $$(nproc)

test-gpu: setup
	@scripts/test-gpu.sh

test-gpu-sanitize: setup
	@scripts/test-gpu.sh --sanitize

test-python: setup
	@scripts/build.sh $(BUILD) $(FLAGS) tandem_shared tandem_cli
	@scripts/test-python.sh $(BUILD)

fuzz: setup
	@scripts/build.sh build-asan -DTANDEM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DTANDEM_SANITIZE=address,undefined
	@build-asan/tests/fuzz_readers --seconds $(SECONDS)
	@ASAN_OPTIONS=allocator_may_return_null=1 build-asan/tests/fuzz_checkpoints --seconds $(SECONDS)
	@build-asan/tests/fuzz_runs --seconds $(SECONDS)

bench: setup
	@scripts/build.sh $(BUILD) $(FLAGS) tandem_cli
	@$(BUILD)/tandem bench convert

install: setup
	@scripts/build.sh $(BUILD) $(FLAGS) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) build-asan build-tsan build-gpu
