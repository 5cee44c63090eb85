# make run     installs what is missing, builds, and starts yodel on an echo server of its own
# make test    the same, then the whole test suite
# make         builds the programs
# make bench   builds and runs the benchmarks
# make fuzz    builds the fuzz targets and runs them, for FUZZ_SECONDS in all
# make install PREFIX=/usr/local DESTDIR=
# make clean
#
# make test SANITIZE=address,undefined   tests a build under these sanitizers
# make test CXX=clang++ STDLIB=libc++    tests a build by this compiler with this C++ library
# WERROR=ON                              makes warnings errors

SANITIZE ?=
STDLIB ?=
WERROR ?= OFF
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
BUILD ?= build/$(or $(STDLIB)$(SANITIZE),release)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

configure = cmake -S . -B $(1) -DYODEL_SANITIZE=$(SANITIZE) -DYODEL_WERROR=$(WERROR) \
	-DCMAKE_INSTALL_PREFIX=$(PREFIX) $(if $(STDLIB),-DCMAKE_CXX_FLAGS=-stdlib=$(STDLIB)) $(2)
MAKEFLAGS += --no-print-directory
compile = cmake --build $(1) --parallel $(JOBS)

.PHONY: all run test bench fuzz install clean

all:
	@.ci/packages build
	@$(call configure,$(BUILD)) >/dev/null
	@$(call compile,$(BUILD)) --target yodel yodeld

run: all
	@$(BUILD)/yodel

test:
	@.ci/packages build test $(STDLIB)
	@$(call configure,$(BUILD),-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,$(BUILD))
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure

bench:
	@.ci/packages build test bench
	@$(call configure,build/bench,-DYODEL_BENCH=ON) >/dev/null
	@$(call compile,build/bench)
	@tests/bench/run build/bench

fuzz:
	@.ci/packages build fuzz
	@CXX=clang++ $(call configure,build/fuzz,-DYODEL_FUZZ=ON) >/dev/null
	@$(call compile,build/fuzz) --target fuzz
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

install: all
	cmake --install $(BUILD)

clean:
	rm -rf build
