# What the binarization's threshold does to void ratio and grading:
#
#   make -f pipeline/threshold.mk STACK=scan.tif VOXEL_UM=10 OUT=out
#
# The denoised stack is cut at several grey levels about the half level between void and grain, each cut is labelled,
# and void ratio and grading by volume of the grains that the border does not cut are set beside those of the chain's
# own mask. OUT may be that of another chain: its denoised.h5 and mask.h5 are taken. What was done stays.
# Settings (all optional but OUT and STACK):
#   SHIFTS          levels, in percent of the step from void to grain, from the half level on (-10 -5 0 5 10)
#   DRAWS           samples drawn anew of the grains, for the 95% ranges of the grading (400)
#   VOXEL_UM, BIN, DENOISE_FLAGS, BINARIZE_FLAGS, LABEL_FLAGS as for triaxial.mk
# Products in OUT/threshold: a folder a shift with mask.h5, labels.h5, grains.csv; threshold.csv, threshold_grading.csv,
# threshold.png.

.DEFAULT_GOAL := threshold
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
include $(here)/common.mk

SHIFTS ?= -10 -5 0 5 10
DRAWS ?= 400
STACK ?= $(error STACK= is wanted: the scan)
minus := -
$(foreach s,$(SHIFTS),$(if $(shell awk 'BEGIN {exit !("$(s)" ~ /^[+-]?[0-9]+(\.[0-9]+)?$$/ && $(s) > -45 && $(s) < 45)}' \
  </dev/null && echo yes),,$(error SHIFTS: $(s) is no number of percent between -45 and 45)))
$(call check_words,DRAWS)
include $(here)/imaging.mk

settings_threshold = $(call values,SHIFTS DRAWS)
$(call settings,threshold): $(call changed,threshold)

at := $(OUT)/threshold
tables := $(SHIFTS:%=$(at)/%/grains.csv)

.PHONY: threshold
threshold: $(at)/threshold.png
	@cat $(at)/summary.txt

# Levels stand in the report of the binarization by HMRF-EM, which mask.h5 came from.
$(at)/levels.txt: $(OUT)/mask.h5
	mkdir -p $(at)
	awk '$$1 == "void_mean:" {v = $$2} $$1 == "grain_mean:" {g = $$2} $$1 == "half_level:" {h = $$2} \
	  END {if (!(g > v)) {print "$(OUT)/logs/binarize.txt has no levels of void and grain: remove mask.h5, and leave --method out" \
	  >"/dev/stderr"; exit 1} print v, g, h}' $(OUT)/logs/binarize.txt >$@.tmp
	mv $@.tmp $@

$(at)/%/mask.h5: $(at)/levels.txt $(OUT)/denoised.h5
	mkdir -p $(at)/$*
	$(call stage,threshold-$*-mask) $(call tool,talus-binarize) $(OUT)/denoised.h5 -o $@ --overwrite --method=threshold \
	  --threshold=$$(awk '{printf "%.9g", $$3 + 0.01 * ($*) * ($$2 - $$1)}' $(at)/levels.txt)

$(at)/%/grains.csv: $(at)/%/mask.h5 $(call settings,label)
	$(call stage,threshold-$*-label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.h5 -o $(at)/$*/labels.h5 \
	  --grains=$@ --overwrite $(call options,,$(LABEL_FLAGS))

$(at)/own.csv: $(OUT)/mask.h5 $(call settings,label)
	mkdir -p $(at)
	$(call stage,threshold-own-label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.h5 -o $(at)/own.h5 --grains=$@ \
	  --overwrite $(call options,,$(LABEL_FLAGS))

$(at)/threshold.png: $(tables) $(at)/own.csv $(here)/threshold.sh $(call settings,threshold)
	$(call script,threshold.sh) $(OUT) $(DRAWS) $(SHIFTS)

.PRECIOUS: $(at)/%/mask.h5 $(at)/%/grains.csv
