# Several triaxial tests, or several scans, by one command:
#
#   make -f pipeline/batch.mk TESTS="dense.yaml loose.yaml" OUT=batch
#   make -f pipeline/batch.mk STACKS="east.tif west.tif" VOXEL_UM=10 OUT=batch
#
# Each has a folder of its own in OUT, named after its file, in which triaxial.mk runs: a test of TESTS (files of keys,
# triaxial_test.sh) to its curves, a scan of STACKS to its grains and scan.html. Then all are set beside each other:
# curves and report.html of the tests, batch.csv and batch.png of the scans. What was done stays, so the command that was
# stopped goes on. With make -k one that fails does not stop the others, and the rest is made when all are there; -j2 runs
# two at a time.
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

.PHONY: batch FORCE $(folders)
batch: $(if $(TESTS),$(OUT)/report.html,$(OUT)/batch.png)
	@$(if $(TESTS),cat $(OUT)/measures/triaxial_runs.csv,cat $(OUT)/batch.csv)

# triaxial.mk knows what is done
define folder
$(OUT)/$(call name_of,$(1)):
	@mkdir -p $$@
	+$$(one) $(if $(TESTS),TEST=$(1) TESTS=,STACK=$(1) STACKS= $(OUT)/$(call name_of,$(1))/scan.html)
endef
$(foreach f,$(files),$(eval $(call folder,$(f))))

# ---- tests ----
first := $(firstword $(folders))
others := $(wordlist 2,$(words $(folders)),$(folders))
labels := $(names:%=--label=%)

$(OUT)/report.html: $(folders)
	$(call stage,measure) $(call tool,talus-measure) $(first)/run -o $(OUT)/measures --overwrite --triaxial --plot \
	  $(others:%=--with=%/run) $(if $(others),$(labels)) $(if $(COMPARE),--compare=$(call quote,$(COMPARE)))
	$(call stage,report) $(call tool,talus-report) $(folders:%=%/run) -o $@ --overwrite $(labels) \
	  $(if $(COMPARE),--compare=$(call quote,$(COMPARE)))

# ---- scans ----
$(OUT)/batch.png: $(folders)
	$(call script,batch.sh) $(call quote,$(if $(BIN),$(BIN)/)talus-catalog) $(OUT) $(names)
