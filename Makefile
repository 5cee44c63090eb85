# make run     installs missing packages, builds, and starts yodel with an echo server
# make test    installs missing packages, builds, and runs the whole test suite
# make         builds the programs
# make bench   builds and runs the benchmarks
# make deps FOR=lint   installs missing packages, here for make and make lint
#
# lint, and targets that only build or install, name missing packages and fail; others install them.
#
# More checks. .ci/run includes all but nightly, check-portable, check-valgrind and soak; parts of
# simulate and torture run as a part of the suite:
# make lint             checks the format of all sources, and the product with clang-tidy and the
#                       warnings of clang; make format corrects the format
# make check-asan       tests a build by clang++ with libc++ under AddressSanitizer and UBSan
# make check-tsan       tests the rooms that use threads under ThreadSanitizer
# make check-valgrind   runs the tests of ev and bufio under valgrind
# make check-portable   tests a build that uses only portable features
# make coverage         prints the line coverage of each room's own tests, and fails if it is too
#                       low
# make fuzz FUZZ_SECONDS=60   builds the fuzz targets and runs them for this total time
# make simulate SESSIONS=100000 SEED=1   plays sessions of each kind in virtual time,
#                       and checks their invariants
# make torture          makes each system call and each allocation of short conversations fail once;
#                       EVERY=100 runs every 100th case, CASE="pipe read 1 EIO" shows this case
# make nightly          runs slow checks that rarely find more than .ci/run does: all of simulate and
#                       torture, check-valgrind, check-portable, and ev and bufio copied into
#                       another program
# make soak MINUTES=60  runs both programs under a changing load with faults, and checks that
#                       memory, descriptors and round-trip times stay constant
#
# make picture          redraws the picture in README
# make install PREFIX=/usr/local DESTDIR=
# make uninstall                         removes the installed files; takes the same variables
# make check-cluster    runs the recipe for Slurm on a cluster of two nodes on this machine, or prints
#                       why that is impossible
# make static           builds the programs without shared libraries in build/static (on Debian)
# make package          builds a Debian package into build/
# make release          makes all files of a release in build/ from the last commit: sources, manuals
#                       as HTML, checksums, and packages and static programs for this machine and
#                       arm64; the same bytes each time
# make check-package    makes a release twice, compares them, and checks its files, also on bare
#                       systems if debootstrap is installed; and each command that builds, alone
# make dist             packs the sources of the last commit into build/
# make clean
#
# make test SANITIZE=address,undefined   tests a build under these sanitizers
# make test CXX=clang++ STDLIB=libc++    tests a build with this compiler and C++ library
# WERROR=ON                              turns warnings into errors
# UNITY=ON                               compiles each room as a few files, in half the time: the
#                                        default if the programs are built for the first time

SANITIZE ?=
STDLIB ?=
WERROR ?= OFF
UNITY ?= OFF
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SESSIONS ?= 100000
SEED ?= 1
EVERY ?= 1
MINUTES ?= 60
BUILD ?= build/$(or $(STDLIB)$(SANITIZE),release)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

configure = cmake -S . -B $(1) -DYODEL_SANITIZE=$(SANITIZE) -DYODEL_WERROR=$(WERROR) \
	-DCMAKE_UNITY_BUILD=$(UNITY) -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
	$(if $(STDLIB),-DCMAKE_CXX_FLAGS=-stdlib=$(STDLIB)) $(2)
MAKEFLAGS += --no-print-directory
# Both may be followed by more groups of packages. check_deps names missing packages and fails.
check_deps = contrib/packaging/deps check build
install_deps = contrib/packaging/deps install build
compile = cmake --build $(1) --parallel $(JOBS)
# Tests of whole programs wait more than they compute. The last lines name the reasons of skipped tests.
run_tests = rm -f $(1)/skipped; \
	ctest --test-dir $(1) --parallel $$((2 * $(JOBS))) --output-on-failure $(2); status=$$?; \
	if [ -e $(1)/skipped ]; then echo Skipped:; sort $(1)/skipped; fi; exit $$status

.PHONY: deps all run test bench lint format check-asan check-tsan check-valgrind check-portable coverage \
	fuzz simulate torture nightly soak picture stage install uninstall package check-package dist \
	check-cluster static release clean

# A new build of the programs is a unity build; make test makes it a usual one, and so it remains.
all: UNITY = $(or $(shell sed -n 's/^CMAKE_UNITY_BUILD:.*=//p' $(BUILD)/CMakeCache.txt 2>&-),ON)
all:
	@$(check_deps)
	@$(call configure,$(BUILD)) >/dev/null
	@$(call compile,$(BUILD)) --target programs

deps:
	@$(install_deps) $(FOR)

run:
	@$(install_deps)
	@$(MAKE) all
	@$(BUILD)/yodel

test:
	@$(install_deps) test $(filter libc++,$(STDLIB))
	@$(call configure,$(BUILD),-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,$(BUILD))
	@$(call run_tests,$(BUILD))

bench:
	@$(install_deps) test
	@$(call configure,build/bench,-DYODEL_BENCH=ON) >/dev/null
	@$(call compile,build/bench)
	@build/bench/benchmarks

sources = find ev bufio ui app $(1) -name '*.[ch]pp'

# Other versions of the formatter than 14 may format some lines differently. clang-tidy checks the
# files of a unity build, which include the headers once instead of once per source.
lint: UNITY = ON
lint:
	@$(check_deps) lint
	@$(call sources,tests) | xargs clang-format --dry-run -Werror
	@CXX=clang++ $(call configure,build/lint) >/dev/null
	@sed -n 's/^ *"file": "\(.*\)",*$$/\1/p' build/lint/compile_commands.json | \
		xargs -P $(JOBS) -n 1 clang-tidy -p build/lint --quiet 2>build/lint/clang-tidy.log

format:
	@$(check_deps) lint
	@$(call sources,tests) | xargs clang-format -i

check-asan:
	@$(MAKE) test BUILD=build/asan CXX=clang++ STDLIB=libc++ SANITIZE=address,undefined UNITY=ON

check-tsan: SANITIZE = thread
check-tsan: UNITY = ON
check-tsan:
	@$(install_deps) test fuzz
	@CXX=clang++ $(call configure,build/tsan,-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,build/tsan) --target test_threaded_rooms
	@$(call run_tests,build/tsan,-L "$$(cat build/tsan/threaded_rooms)")

check-portable: UNITY = ON
check-portable:
	@$(install_deps) test
	@$(call configure,build/portable,-DYODEL_TESTS=ON -DYODEL_PORTABLE=ON) >/dev/null
	@$(call compile,build/portable)
	@$(call run_tests,build/portable)

# Random tests make fewer steps, because valgrind is slow.
check-valgrind:
	@$(install_deps) test valgrind
	@$(call configure,$(BUILD),-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,$(BUILD)) --target test_ev test_bufio
	@tests/valgrind/run $(BUILD)

coverage: UNITY = ON
coverage:
	@$(install_deps) test coverage
	@CXX=clang++ $(call configure,build/coverage,-DYODEL_TESTS=ON -DYODEL_COVERAGE=ON) >/dev/null
	@$(call compile,build/coverage) --target test_rooms
	@tests/coverage/run build/coverage

fuzz: UNITY = ON
fuzz:
	@$(install_deps) fuzz
	@CXX=clang++ $(call configure,build/fuzz,-DYODEL_FUZZ=ON) >/dev/null
	@$(call compile,build/fuzz) --target fuzz
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

simulate:
	@$(install_deps) test
	@$(call configure,$(BUILD),-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,$(BUILD)) --target simulate
	@for kind in streams datagrams websockets; do \
		$(BUILD)/simulation/simulate $$kind $(SESSIONS) $(SEED) || exit 1; done

torture:
	@$(install_deps) test
	@$(call configure,$(BUILD),-DYODEL_TESTS=ON) >/dev/null
	@$(call compile,$(BUILD)) --target programs fail_once
	@tests/torture/torture.py $(BUILD) $(BUILD)/tests/libfail_once.so --every $(EVERY) \
		$(if $(CASE),--only "$(CASE)")

nightly: simulate torture check-valgrind check-portable
	@tests/package/copied_alone . $(CXX)

picture:
	@$(install_deps) picture
	@$(MAKE) all
	@tests/screens/picture.py $(BUILD) >$(BUILD)/picture.svg
	@mv $(BUILD)/picture.svg tests/screens/yodel.svg

soak:
	@$(install_deps) test
	@$(MAKE) all
	@tests/soak/soak.py $(BUILD) $(MINUTES) $(SEED)

# Installs the files into a staging tree.
stage: all
	@rm -rf $(BUILD)/stage
	@DESTDIR=$(abspath $(BUILD)/stage) cmake --install $(BUILD) >/dev/null

# Begins a loop over the paths of that tree, in which $$path is the path once installed.
each_staged = find $(BUILD)/stage -depth $(1) | sed 's|^$(BUILD)/stage|$(DESTDIR)|' | \
	while read -r path; do

# Records missing folders, so that uninstall can remove them if they are empty.
install: stage
	@$(call each_staged,-type d) test -d "$$path/" || echo "$$path"; done >>$(BUILD)/folders
	@cmake --install $(BUILD)

uninstall: stage
	@$(call each_staged,! -type d) echo "-- Removing: $$path" && rm -f "$$path"; done
	@$(call each_staged,-type d) \
		if grep -Fqsx "$$path" $(BUILD)/folders; then rmdir "$$path" 2>/dev/null || true; fi; done

package:
	@$(check_deps) package
	@contrib/packaging/debian/build $(JOBS)

check-cluster:
	@$(install_deps) recipes cluster
	@$(MAKE) all
	@tests/recipes/recipes.py slurm . $(addprefix $(BUILD)/,yodel yodel-load yodeld) || test $$? -eq 77

static:
	@$(check_deps)
	@contrib/packaging/static/build $(JOBS)

release:
	@$(check_deps) package release
	@contrib/packaging/release $(JOBS)

check-package: release
	@$(install_deps) arm64
	@tests/package/check_release .
	@for package in build/*.deb; do tests/package/check_package $$package || exit 1; done
	@tests/package/check_arm64 build/release-sources/build/static-arm64 build/*_arm64.deb
	@tests/package/check_static build/release-sources/build/static
	@tests/package/check_container build/release-sources
	@tests/package/check_install build/release-sources
	@tests/package/check_alone .

dist:
	@contrib/packaging/dist

clean:
	rm -rf build
