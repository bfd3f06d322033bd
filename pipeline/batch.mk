# Several triaxial tests, or several scans, by one command:
#
#   make -f pipeline/batch.mk TESTS="dense.yaml loose.yaml" OUT=batch
#   make -f pipeline/batch.mk STACKS="east.tif west.tif" VOXEL_UM=10 OUT=batch
#
# Each has a folder of its own in OUT, named after its file, in which triaxial.mk runs: a test of TESTS (files of keys,
# triaxial_test.sh) to its curves, a scan of STACKS to its grains and scan.html. Then all are set beside each other:
# curves and report.html of the tests, batch.csv and batch.png of the scans. What was done stays, so the command that was
# stopped goes on. With make -k one that fails does not stop the others: those that are good are set beside each other,
# the others are named, and make ends with an error. -j2 runs two at a time.
# Settings: those of triaxial.mk go on to it, the same for all.

.DEFAULT_GOAL := batch
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
include $(here)/common.mk

$(call check_words,TESTS STACKS)
$(if $(strip $(TESTS)),$(if $(strip $(STACKS)),$(error give TESTS or STACKS, not both)),$(if $(strip $(STACKS)),,$(error \
  TESTS= or STACKS= is wanted: files)))
files := $(strip $(TESTS) $(STACKS))
name_of = $(basename $(notdir $(1)))
names := $(foreach f,$(files),$(call name_of,$(f)))
$(if $(filter-out $(words $(names)),$(words $(sort $(names)))),$(error two files of the same name would share a folder: $(names)))
$(foreach f,$(files),$(if $(wildcard $(f)),,$(error $(f): there is no such file)))
folders := $(names:%=$(OUT)/%)
one = $(MAKE) --no-print-directory -f $(call script,triaxial.mk) OUT=$@

# With make -k (and not -n) one that fails has a file `failed` in its folder.
flags = $(filter-out --%,$(firstword -$(MAKEFLAGS)))
keeps_going = $(if $(findstring n,$(flags)),,$(findstring k,$(flags)))
good = $(shell for f in $(folders); do [ -e $$f/failed ] || echo $$f; done)

.PHONY: batch $(folders)
batch: $(if $(TESTS),$(OUT)/report.html,$(OUT)/batch.png)
	@$(if $(TESTS),cat $(OUT)/measures/triaxial_runs.csv,cat $(OUT)/batch.csv)
	@for f in $(filter-out $(good),$(folders)); do echo "$$f: failed, and is left out" >&2; bad=1; done; exit $${bad:-0}

# triaxial.mk knows what is done
define folder
$(OUT)/$(call name_of,$(1)):
	@mkdir -p $$@
	@rm -f $$@/failed
	+$$(one) $(if $(TESTS),TEST=$(1) TESTS=,STACK=$(1) STACKS= $(OUT)/$(call name_of,$(1))/scan.html) \
	  $$(if $$(keeps_going),|| touch $$@/failed)
endef
$(foreach f,$(files),$(eval $(call folder,$(f))))
some_good = @$(if $(good),:,echo "$(OUT): none could be made: $(folders)" >&2; exit 1)

# ---- tests ----
others = $(wordlist 2,$(words $(good)),$(good))
labels = $(good:$(OUT)/%=--label=%)

$(OUT)/report.html: $(folders)
	$(some_good)
	$(call stage,measure) $(call tool,talus-measure) $(firstword $(good))/run -o $(OUT)/measures --overwrite --triaxial --plot \
	  $(others:%=--with=%/run) $(if $(others),$(labels)) $(if $(COMPARE),--compare=$(call quote,$(COMPARE)))
	$(call stage,report) $(call tool,talus-report) $(good:%=%/run) -o $@ --overwrite $(labels) \
	  $(if $(COMPARE),--compare=$(call quote,$(COMPARE)))

# ---- scans ----
$(OUT)/batch.png: $(folders)
	$(some_good)
	$(call script,batch.sh) $(call quote,$(if $(BIN),$(BIN)/)talus-catalog) $(OUT) $(good:$(OUT)/%=%)
