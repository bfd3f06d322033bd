# Talus: one Makefile, non-recursive. `make help` lists what it can do.
# Every .c below libcore/ goes into libtalus.a; every tools/talus-*.c becomes build/bin/talus-*;
# every tests/unit/test_*.c and tests/mpi/test_*.c becomes a test program, every tests/validation/val_*.c and
# tests/bench/bench_*.c and tests/score/score_*.c a judging one. New files need no edit here.

VERSION := 0.1.0
SHELL := /bin/bash
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
PREFIX ?= /usr/local

CC ?= gcc
CXX ?= g++
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif

# ---- packages: name, and a file or command that shows it is there -------------------------------
# `make deps` installs what is missing (Debian 12); nothing to do where all is there.
include pipeline/deps.mk

PKGS := hdf5-serial libtiff-4 fftw3 fftw3f sqlite3 yaml-0.1 gdal libpng libzstd libcrypto ompi-c lapacke openblas qhull_r libjpeg zlib
PKG_CONFIG ?= pkg-config
GOALS_WITHOUT_PACKAGES := deps help clean distclean lint format
ifneq ($(filter-out $(GOALS_WITHOUT_PACKAGES),$(or $(MAKECMDGOALS),all)),)
ifeq ($(DEPS_MISSING),)
PKG_CFLAGS := $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null))
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)
CHECK_LIBS := $(shell $(PKG_CONFIG) --libs check 2>/dev/null)
endif
endif
ITK := 5.2
ITK_CFLAGS := -isystem /usr/include/ITK-$(ITK)
# Only the modules the bridge needs: no HDF5, TIFF or DICOM reader comes along.
ITK_LIBS := $(addsuffix -$(ITK),-lITKIOMeta -lITKMetaIO -lITKIONRRD -lITKNrrdIO -lITKIOImageBase \
  -lITKCommon -litksys -litkvnl_algo -litkvnl)

# ---- variants: objects of different flags live side by side --------------------------------------
OPT ?= -O3 -g
NATIVE ?= 0
WERROR ?= 0
SAN ?= 0
FUZZ ?= 0
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Wno-unknown-warning-option -Wno-psabi -Wno-missing-field-initializers -Wno-format-truncation
BASE := $(OPT) -fopenmp -ffp-contract=off -fno-math-errno -fPIC
ifeq ($(NATIVE),1)
BASE += -march=native
endif
ifeq ($(SAN),1)
BASE += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
# The gold linker takes half the time of the other one, for over a hundred programs.
LD_FAST := $(if $(shell command -v ld.gold),-fuse-ld=gold)
# For libFuzzer, by clang (make check-fuzz).
ifeq ($(FUZZ),1)
BASE += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
WARN := -w
endif
ifeq ($(WERROR),1)
WARN += -Werror
endif
CPP := -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -Ilibcore
ifeq ($(FUZZ),1)
CPP += -DTL_FUZZER
endif
CFLAGS_ALL := -std=c17 $(BASE) $(WARN) $(CPP) $(CFLAGS)
CXXFLAGS_ALL := -std=c++17 $(BASE) -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -Ilibcore $(ITK_CFLAGS) $(CXXFLAGS)
FLAGS_ID := $(shell echo '$(CC) $(CXX) $(CFLAGS_ALL) $(CXXFLAGS_ALL)' | sha1sum | cut -c1-10)
OBJ := build/obj-$(FLAGS_ID)
ifeq ($(SAN),1)
BIN := build/asan/bin
TESTBIN := build/asan/test
else ifeq ($(FUZZ),1)
BIN := build/fuzz/bin
TESTBIN := build/fuzz/test
else
BIN := build/bin
TESTBIN := build/test
endif
LDLIBS_ALL := $(LD_FAST) -Wl,--as-needed $(PKG_LIBS) $(ITK_LIBS) -lm

# ---- files ---------------------------------------------------------------------------------------
LIB_C := $(sort $(wildcard libcore/*/*.c))
LIB_CXX := $(sort $(wildcard libcore/*/*.cpp))
LIB_OBJ := $(LIB_C:%.c=$(OBJ)/%.o) $(LIB_CXX:%.cpp=$(OBJ)/%.o) $(OBJ)/report_assets.o
LIB := $(OBJ)/libtalus.a
# The same where its place does not depend on flags: what make install takes.
LIB_MADE = $(patsubst %/bin,%/lib,$(BIN))/libtalus.a
TOOLS := $(patsubst tools/%.c,%,$(sort $(wildcard tools/talus-*.c)))
TOOL_BIN := $(TOOLS:%=$(BIN)/%)
SUPPORT_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/support/*.c)))
# What our image processing is compared with; an archive, for only a few tests need it.
ORACLE := $(OBJ)/liboracle.a
ORACLE_OBJ := $(patsubst %.cpp,$(OBJ)/%.o,$(sort $(wildcard tests/oracle/*.cpp))) \
  $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/oracle/*.c)))
UNIT := $(patsubst tests/unit/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/unit/test_*.c)))
MPI_TESTS := $(patsubst tests/mpi/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/mpi/test_*.c)))
# Judging programs: one a study, tests/validation/val_NAME.c and tests/bench/bench_NAME.c
JUDGE_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(filter-out tests/judge/report.c,$(sort $(wildcard tests/judge/*.c))))
VALIDATIONS := $(patsubst tests/validation/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/validation/val_*.c)))
BENCHES := $(patsubst tests/bench/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/bench/bench_*.c)))
SCORES := $(patsubst tests/score/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/score/score_*.c)))
SCORE_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(filter-out tests/score/score_%,$(sort $(wildcard tests/score/*.c))))
# Harnesses of the readers of foreign files, one a reader, tests/fuzz/fuzz_READER.c
FUZZ_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SHARED := $(addprefix $(OBJ)/tests/fuzz/,fuzz.o made.o catalog_use.o)
FUZZERS := $(patsubst tests/fuzz/%.c,$(TESTBIN)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
JUDGE_LINK = @mkdir -p $(@D) && echo "  LD  $@" && \
  $(CXX) $(BASE) -o $@ $< $(EXTRA_OBJ) $(JUDGE_OBJ) $(LIB) $(LDLIBS_ALL)

.PHONY: deb check-deb all tools tests judges check check-unit check-mpi check-cli check-asan check-faults check-survive check-slurm check-report lint format \
  validation validation-full cost cost-accuracy bench score reference problems man completion demo install uninstall clean distclean deps help

all: tools ## build the library and the tools (build/bin)
tools: $(TOOL_BIN) $(BIN)/talus-mpirun $(LIB_MADE)
FAULTS := $(TESTBIN)/fault-shim.so $(TESTBIN)/fault-inject $(TESTBIN)/test_fault_control
tests: $(UNIT) $(MPI_TESTS) $(TESTBIN)/judge-report $(TESTBIN)/judge-sample $(TESTBIN)/disk-shim.so \
  $(TESTBIN)/fuzz-replay $(TESTBIN)/fuzz-seeds $(FAULTS)
judges: $(VALIDATIONS) $(BENCHES) $(SCORES) $(TESTBIN)/judge-report ## build the programs of validation, bench and score

$(LIB): $(LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(LIB_MADE): $(LIB)
	@mkdir -p $(@D)
	@cp $< $@

$(ORACLE): $(ORACLE_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

# version.h changes only when what it says changes
VERSION_TEXT := $(VERSION) $(shell git describe --always --dirty --abbrev=10 2>/dev/null || echo unknown)
$(OBJ)/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define TL_VERSION "%s"\n#define TL_COMMIT "%s"\n#define TL_BUILD_FLAGS "%s"\n' $(VERSION_TEXT) \
	  '$(strip $(OPT) $(if $(filter 1,$(NATIVE)),-march=native) $(if $(filter 1,$(SAN)),sanitized))' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
FORCE:

$(OBJ)/libcore/base/provenance.o: $(OBJ)/version.h
# GDAL is loaded when it is first needed (libcore/io/gdal_functions.h), by the name that programs linked with it ask for.
$(OBJ)/libcore/io/gdal_library.o: CFLAGS_ALL += -DTL_GDAL_LIBRARY='"$(or $(shell \
  objdump -p "$$($(CC) -print-file-name=libgdal.so)" 2>/dev/null | sed -n 's/^ *SONAME *//p'),libgdal.so)"'
ifeq ($(SAN),1)
# ITK's templates: pointers are left to AddressSanitizer, UBSan's checks of each double the compile time
# and its headers step iterators from null, not ours to mend.
$(OBJ)/libcore/itk/%.o $(OBJ)/tests/oracle/%.o: CXXFLAGS_ALL += -fno-sanitize=pointer-overflow,null,alignment,object-size,vptr
else ifeq ($(FUZZ),1)
# Debian's ITK knows gcc alone; the bridge is looked at by make check-asan.
$(OBJ)/libcore/itk/%.o: override CXX := g++
$(OBJ)/libcore/itk/%.o: override CXXFLAGS_ALL := $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(CXXFLAGS_ALL))
endif

# The report's scripts, shaders and styles stay readable files; the library holds them as arrays.
REPORT_FILES := $(sort $(wildcard libcore/post/report/*))
$(OBJ)/report_assets.c: $(REPORT_FILES) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "post/report_assets.h"'; n=0; \
	  for f in $(REPORT_FILES); do n=$$((n + 1)); echo "static const char file_$$n[] = {"; \
	    od -An -v -td1 "$$f" | sed -E 's/ +(-?[0-9]+)/\1,/g'; echo '0};'; done; \
	  echo 'const TlReportAsset tl_report_assets[] = {'; n=0; \
	  for f in $(REPORT_FILES); do n=$$((n + 1)); echo "  {\"$${f##*/}\", file_$$n},"; done; \
	  echo '  {0, 0}};'; } > $@
$(OBJ)/report_assets.o: $(OBJ)/report_assets.c
	@echo "  CC  report assets"
	@$(CC) $(CFLAGS_ALL) -c -o $@ $<

$(OBJ)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC  $<"
	@$(CC) $(CFLAGS_ALL) -I$(OBJ) -Itests -Iinclude $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJ)/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo "  C++ $<"
	@$(CXX) $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BIN)/%: $(OBJ)/tools/%.o $(LIB)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CXX) $(BASE) -o $@ $< $(LIB) $(LDLIBS_ALL)

$(BIN)/talus-mpirun: pipeline/talus-mpirun
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(TESTBIN)/%: $(OBJ)/tests/unit/%.o $(SUPPORT_OBJ) $(ORACLE) $(LIB)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CXX) $(BASE) -o $@ $< $(EXTRA_OBJ) $(SUPPORT_OBJ) $(ORACLE) $(LIB) $(LDLIBS_ALL) $(CHECK_LIBS)
$(TESTBIN)/test_score: $(SCORE_OBJ) $(JUDGE_OBJ)
$(TESTBIN)/test_score: EXTRA_OBJ := $(SCORE_OBJ) $(JUDGE_OBJ)
$(TESTBIN)/test_judge_overlap $(TESTBIN)/test_mixed_contact $(TESTBIN)/test_surface_load: $(JUDGE_OBJ)
$(TESTBIN)/test_judge_overlap $(TESTBIN)/test_mixed_contact $(TESTBIN)/test_surface_load: EXTRA_OBJ := $(JUDGE_OBJ)
# Ranks without MPI, in place of base/comm.c
$(TESTBIN)/test_ranks $(TESTBIN)/test_balance $(TESTBIN)/test_writers: $(OBJ)/tests/ranks/comm.o
$(TESTBIN)/test_ranks $(TESTBIN)/test_balance $(TESTBIN)/test_writers: EXTRA_OBJ := $(OBJ)/tests/ranks/comm.o

# What steps cost on many such ranks: tests/ranks/cost.c says how to ask.
$(TESTBIN)/ranks-cost: $(OBJ)/tests/ranks/cost.o $(OBJ)/tests/ranks/comm.o $(LIB)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CXX) $(BASE) -o $@ $(filter %.o,$^) $(LIB) $(LDLIBS_ALL)

# Studies that begin where another ends: its results, made where they are not there.
START_penalty := pack
START_rest := pack
START_rest_wide := pack_wide
START_loose := loose_start
build/ranks/%.run: | $(BIN)/talus-solve
	@mkdir -p $(@D)
	@echo "  RUN $@"
	@$(BIN)/talus-solve tests/ranks/$*.yaml -o $@.part --overwrite -q >$@.log && mv $@.part $@

cost: RANKS ?= 1,8,27,64
cost: $(START_$(STUDY):%=build/ranks/%.run) $(TESTBIN)/ranks-cost ## steps on many ranks, by counts and a model: STUDY=layer of tests/ranks/, RANKS=1,8,27,64
	@$(TESTBIN)/ranks-cost tests/ranks/$(or $(STUDY),layer).yaml $(or $(FROM),40) $(or $(STEPS),20) $(RANKS) $(SET)

$(TESTBIN)/disk-shim.so: tests/shim/disk.c
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CC) -O1 -g -Wall -Wextra -fPIC -shared -o $@ $< -ldl
$(TESTBIN)/test_resume_state: $(addprefix $(OBJ)/tests/fuzz/,fuzz.o made.o)
$(TESTBIN)/test_resume_state: EXTRA_OBJ := $(addprefix $(OBJ)/tests/fuzz/,fuzz.o made.o)

$(TESTBIN)/%: $(OBJ)/tests/mpi/%.o $(SUPPORT_OBJ) $(LIB)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CXX) $(BASE) -o $@ $< $(SUPPORT_OBJ) $(LIB) $(LDLIBS_ALL) $(CHECK_LIBS)

$(TESTBIN)/%: $(OBJ)/tests/validation/%.o $(JUDGE_OBJ) $(LIB)
	$(JUDGE_LINK)

$(TESTBIN)/%: $(OBJ)/tests/bench/%.o $(JUDGE_OBJ) $(ORACLE) $(LIB)
	$(JUDGE_LINK)
$(BENCHES): EXTRA_OBJ := $(ORACLE)

$(TESTBIN)/%: $(OBJ)/tests/score/%.o $(SCORE_OBJ) $(JUDGE_OBJ) $(LIB)
	$(JUDGE_LINK)
$(SCORES): EXTRA_OBJ := $(SCORE_OBJ)

$(TESTBIN)/judge-report: $(OBJ)/tests/judge/report.o $(JUDGE_OBJ) $(LIB)
	$(JUDGE_LINK)

# Never sanitized: the shim stands between our code and the allocator, whichever that is.
$(TESTBIN)/fault-shim.so: tests/faults/shim.c tests/faults/report.h Makefile
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CC) -std=c17 -O1 -g -fPIC -shared $(WARN) -o $@ $< -ldl

$(TESTBIN)/fault-inject: tests/faults/inject.c tests/faults/report.h Makefile
$(TESTBIN)/test_fault_control: tests/faults/control.c Makefile
$(TESTBIN)/fault-inject $(TESTBIN)/test_fault_control:
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(CC) -std=c17 -O1 -g $(WARN) -o $@ $<

$(TESTBIN)/judge-sample: $(OBJ)/tests/judge/sample/judge_sample.o $(JUDGE_OBJ) $(LIB)
	$(JUDGE_LINK)

FUZZ_LINK = @mkdir -p $(@D) && echo "  LD  $@" && $(CXX) $(BASE) -o $@ $^ $(LDLIBS_ALL)
$(TESTBIN)/fuzz-replay: $(OBJ)/tests/fuzz/replay.o $(FUZZ_OBJ) $(FUZZ_SHARED) $(LIB)
	$(FUZZ_LINK)
$(TESTBIN)/fuzz-seeds: $(OBJ)/tests/fuzz/seeds.o $(FUZZ_SHARED) $(LIB)
	$(FUZZ_LINK)
$(TESTBIN)/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(FUZZ_SHARED) $(LIB)
	$(FUZZ_LINK) -fsanitize=fuzzer

.PRECIOUS: $(OBJ)/%.o

# A plain `make check` builds with all cores; an own -j is left alone.
JOBS := $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc))

# ---- judging -------------------------------------------------------------------------------------
check: deps ## install what is missing, build, run every test (10 to 20 minutes on 2 cores)
	@$(MAKE) --no-print-directory $(JOBS) tools tests
	@BIN=$(BIN) TESTBIN=$(TESTBIN) tests/run.sh unit mpi cli

check-unit check-mpi check-cli: check-%: tools tests ## one kind of test only
	@BIN=$(BIN) TESTBIN=$(TESTBIN) tests/run.sh $*

check-asan: deps ## the same suite under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory $(JOBS) SAN=1 OPT='-O1 -g1' tools tests
	@$(MAKE) --no-print-directory SAN=1 OPT='-O1 -g1' run-asan

.PHONY: run-asan
run-asan:
	@TALUS_SANITIZED=1 BIN=$(BIN) TESTBIN=$(TESTBIN) tests/run.sh unit mpi cli

# Readers of foreign files under libFuzzer: FUZZ_SECONDS each (120), one (READER=name) or all.
FUZZ_SECONDS ?= 120
.PHONY: check-fuzz fuzzers deps-fuzz
check-fuzz: deps deps-fuzz ## fuzz the readers of foreign files, 2 minutes each; READER=name, FUZZ_SECONDS=
	@$(MAKE) --no-print-directory $(JOBS) FUZZ=1 CC=clang CXX=clang++ OPT='-O1 -g' fuzzers
	@TESTBIN=build/fuzz/test FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh $(READER)
fuzzers: $(FUZZERS)

# Each call of our own code that the world can make fail, made to fail once; the table stands in
# docs/notebook/faults.md.
check-faults: deps ## every tool under failing memory and files (10 minutes; FULL=1: every call; ONLY=, KINDS=, MOST=)
	@$(MAKE) --no-print-directory $(JOBS) tools $(FAULTS)
	@BIN=$(BIN) TESTBIN=$(TESTBIN) tests/faults/run.sh

check-survive: deps ## runs killed at random moments and resumed, and one of 200,000 steps (20 minutes; KILLS=, STEPS=, SCENES=, SEED=)
	@$(MAKE) --no-print-directory $(JOBS) tools $(TESTBIN)/test_resume $(TESTBIN)/test_run
	@BIN=$(BIN) TESTBIN=$(TESTBIN) tests/survive/run.sh

check-slurm: deps ## job scripts under a Slurm started on this machine (8 minutes; root; installs munge and slurm-wlm)
	@dpkg -s munge slurm-wlm >/dev/null 2>&1 || $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y --no-install-recommends munge slurm-wlm
	@$(MAKE) --no-print-directory $(JOBS) tools
	@BIN=$(BIN) TESTBIN=$(TESTBIN) tests/slurm/run.sh

# Physics and speed, held to goals: one line a figure, the tables in docs/ from the same lines.
validation bench: deps ## physics (docs/validation.md), speed (docs/performance.md); STUDY=name for one
	@$(MAKE) --no-print-directory $(JOBS) judges >&2
	@TESTBIN=$(TESTBIN) tests/judge/run.sh $@ $(STUDY)

score: deps ## quality of the imaging chain (docs/imaging.md); TALUS_PHANTOM=folder for one more phantom
	@$(MAKE) --no-print-directory $(JOBS) tools judges >&2
	@BIN=$(abspath $(BIN)) TESTBIN=$(TESTBIN) tests/judge/run.sh $@ $(STUDY)

validation-full: deps ## a study at its paper's size, recorded in docs/validation/full.csv: STUDY=name
	@$(MAKE) --no-print-directory $(JOBS) judges >&2
	@TESTBIN=$(TESTBIN) tests/judge/run.sh full $(STUDY)

cost-accuracy: ## CPU time against true overlap and error in run-out, every method: docs/notebook/cost-accuracy.csv, picture (20 minutes)
	@$(MAKE) --no-print-directory validation-full STUDY=cost_accuracy
	@cp build/full/cost_accuracy/cost_accuracy.csv docs/notebook/cost-accuracy.csv

# The report's pages in headless Chromium; the packages of CHECK_REPORT_DEPS are not needed otherwise.
CHECK_REPORT_DEPS := chromium chromium-driver python3-selenium python3-h5py python3-numpy python3-pil
check-report: tools ## the report's pages in a browser (2 minutes; installs Chromium), RUN= times one more run
	@dpkg -s $(CHECK_REPORT_DEPS) >/dev/null 2>&1 || $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y --no-install-recommends $(CHECK_REPORT_DEPS)
	@/usr/bin/python3 tests/report/browser.py $(BIN) build/report \
	  $(or $(RUN),$(patsubst %/run.h5,%,$(wildcard build/demo/run/run.h5)))

# Pages that are written from the tools and from lists in the code. tests/cli/test_reference.sh,
# tests/cli/test_columns.sh and tests/unit/test_records.c hold them to their sources.
reference: tools $(TESTBIN)/test_records ## docs/reference: tools, keys, columns, records, schema of the catalog
	@BIN=$(BIN) docs/reference/generate.sh
	@TALUS_WRITE_REFERENCE=1 $(TESTBIN)/test_records

problems: $(TESTBIN)/test_nonsmooth_corpus ## tests/problems: the kept problems of the nonsmooth method, written anew
	@mkdir -p tests/problems
	@TALUS_WRITE_PROBLEMS=1 $(TESTBIN)/test_nonsmooth_corpus

lint: ## floors, doors, formatting, scripts, Python's syntax, dropped statuses, documents and their words
	@tests/lint/floors.sh
	@tests/lint/documents.py
	@tests/lint/format.sh
	@tests/lint/scripts.sh
	@CC='$(CC)' tests/lint/status.sh

format: ## clang-format the tree in place
	@clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' '*.hpp')

# ---- products ------------------------------------------------------------------------------------
demo: deps ## install what is missing, build, and run the whole chain on embedded data
	@$(MAKE) --no-print-directory $(JOBS) tools
	@$(MAKE) --no-print-directory -f pipeline/demo.mk BIN=$(BIN)

PYTHON_FILES := $(wildcard python/talus/*.py) python/talus/py.typed
PYTHON_PLACE := lib/python3/dist-packages/talus
MAN := $(TOOLS:%=build/man/%.1)
man: $(MAN) ## man pages, made from the tools' own help
build/man/%.1: $(BIN)/%
	@mkdir -p $(@D)
	@$< --man > $@

COMPLETION := $(TOOLS:%=build/completion/bash/%) $(TOOLS:%=build/completion/zsh/_%)
completion: $(COMPLETION) ## what bash and zsh complete, made from the tools' tables of options
build/completion/bash/%: $(BIN)/%
	@mkdir -p $(@D)
	@$< --completion=bash > $@
build/completion/zsh/_%: $(BIN)/%
	@mkdir -p $(@D)
	@$< --completion=zsh > $@

# What was installed is listed with its checksum, so that it can be told from what users put there. Folders that
# were not there before are listed, too, parents first.
quote = '$(subst ','\'',$(1))'
ROOT = $(DESTDIR)$(PREFIX)
INSTALLED := share/talus/installed.sha256
INSTALLED_FOLDERS := share/talus/installed.folders
BASH_PLACE := share/bash-completion/completions
ZSH_PLACE := share/zsh/vendor-completions
FOLDERS := . bin include lib lib/pkgconfig lib/python3 lib/python3/dist-packages $(PYTHON_PLACE) \
  share share/bash-completion $(BASH_PLACE) share/man share/man/man1 share/talus share/talus/slurm share/zsh $(ZSH_PLACE)
# What a program needs to call the library: pkg-config --cflags --libs talus.
define TALUS_PC
prefix=$(PREFIX)
Name: Talus
Description: Level-set DEM of grains of any shape
Version: $(VERSION)
Requires: $(PKGS)
Cflags: -I$${prefix}/include
Libs: -L$${prefix}/lib -ltalus -Wl,--as-needed $(ITK_LIBS) -lstdc++ -fopenmp -lm
endef
export TALUS_PC
install: tools man completion ## install tools, man pages, completion, the library, studies and the Python module below PREFIX
	@at=$(call quote,$(ROOT)); made=(); for folder in $(FOLDERS); do [ -d "$$at/$$folder" ] || \
	  { echo "install -d $$at/$$folder"; install -d "$$at/$$folder" && made+=("$$folder"); } || exit 1; done; \
	[ $${#made[@]} = 0 ] || printf '%s\n' "$${made[@]}" >>"$$at/$(INSTALLED_FOLDERS)"
	install -m 755 $(TOOL_BIN) $(BIN)/talus-mpirun $(call quote,$(ROOT)/bin)
	install -m 644 $(MAN) $(call quote,$(ROOT)/share/man/man1)
	install -m 644 $(filter build/completion/bash/%,$(COMPLETION)) $(call quote,$(ROOT)/$(BASH_PLACE))
	install -m 644 $(filter build/completion/zsh/%,$(COMPLETION)) $(call quote,$(ROOT)/$(ZSH_PLACE))
	install -m 644 $(wildcard pipeline/*.mk config/*.yaml) $(call quote,$(ROOT)/share/talus)
	install -m 755 $(wildcard pipeline/*.sh) $(call quote,$(ROOT)/share/talus)
	install -m 755 $(wildcard pipeline/slurm/*.sh) $(call quote,$(ROOT)/share/talus/slurm)
	install -m 644 $(PYTHON_FILES) $(call quote,$(ROOT)/$(PYTHON_PLACE))
	install -m 644 include/talus.h $(call quote,$(ROOT)/include)
	install -m 644 $(LIB_MADE) $(call quote,$(ROOT)/lib)
	printf '%s\n' "$$TALUS_PC" >$(call quote,$(ROOT)/lib/pkgconfig/talus.pc)
	@cd $(call quote,$(ROOT)) && sha256sum -- $(patsubst %,bin/%,$(TOOLS) talus-mpirun) \
	  $(TOOLS:%=share/man/man1/%.1) $(TOOLS:%=$(BASH_PLACE)/%) $(TOOLS:%=$(ZSH_PLACE)/_%) \
	  $(PYTHON_FILES:python/talus/%=$(PYTHON_PLACE)/%) \
	  include/talus.h lib/libtalus.a lib/pkgconfig/talus.pc \
	  $(addprefix share/talus/,$(notdir $(wildcard pipeline/*.mk config/*.yaml pipeline/*.sh))) \
	  $(patsubst pipeline/%,share/talus/%,$(wildcard pipeline/slurm/*.sh)) >$(INSTALLED)

uninstall: ## remove what install put there; what was changed since, and what is not ours, stays
	@cd $(call quote,$(ROOT)) || exit 1; \
	if [ ! -f $(INSTALLED) ]; then echo "$$PWD/$(INSTALLED) is missing, so nothing is known to be ours; make install with this PREFIX, then uninstall" >&2; exit 1; fi; \
	while read -r line; do file=$${line#*  }; \
	  if [ ! -e "$$file" ]; then :; \
	  elif sha256sum --status -c - <<<"$$line"; then rm -f -- "$$file"; \
	  else echo "kept: $$PWD/$$file was changed since it was installed"; fi; \
	done <$(INSTALLED); \
	mapfile -t made < <(tac $(INSTALLED_FOLDERS) 2>/dev/null); \
	rm -f $(INSTALLED) $(INSTALLED_FOLDERS); rm -rf $(PYTHON_PLACE)/__pycache__; \
	for folder in share/talus $(PYTHON_PLACE) "$${made[@]}"; do folder="$$PWD/$${folder#.}"; \
	  [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty -- "$$folder"; done; \
	[ ! -d share/talus ] || echo "kept: $$PWD/share/talus holds other files"

DEB := build/deb
deb: ## Debian packages in build/deb: tools, library, Python module, documents
	@rm -rf $(DEB)/tree && mkdir -p $(DEB)
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(CURDIR)/$(DEB)/tree >/dev/null
	@pipeline/packaging/deb.sh $(DEB)/tree $(VERSION) $(DEB)
	@rm -rf $(DEB)/tree

check-deb: deb ## the packages in a clean Debian 12 made for it; needs root, debootstrap and a mirror
	@pipeline/packaging/check.sh $(DEB)

clean: ## remove objects, tools and tests (not the demo's results)
	rm -rf build/obj-* build/bin build/test build/asan build/man build/completion

distclean: ## remove everything made
	rm -rf build

help: ## this list
	@grep -hE '^[a-z-]+( [a-z-]+)*:.*##' Makefile | sed -E 's/:.*## /\t/' | \
	  awk -F'\t' '{printf "  make %-18s %s\n", $$1, $$2}'
	@echo "  variables: NATIVE=1 (this machine's instructions), WERROR=1, SAN=1, PREFIX=, CC="

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
