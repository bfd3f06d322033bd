# The demo: the whole chain on data made on the spot, by `make demo`. OUT= moves it elsewhere.
.DEFAULT_GOAL := demo
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
OUT ?= $(if $(wildcard $(here)/../config),build/demo,demo)
RENDER_FLAGS ?= --width=960 --height=600
include $(here)/common.mk
$(call check_texts,RENDER_FLAGS)

# One thread solves: with 154 grains the team of threads costs more than it gives (measured on two
# idle cores: 7.5 s for what two threads do in 12.0 s).
.PHONY: demo
demo: $(OUT)/phantom.tif $(OUT)/valley.asc
	@$(MAKE) --no-print-directory -f $(call script,avalanche.mk) $(if $(BIN),BIN=$(call quote,$(BIN))) \
	  STACK=$(OUT)/phantom.tif DEM=$(OUT)/valley.asc OUT=$(OUT) THREADS=1 RENDER_FLAGS=$(call quote,$(RENDER_FLAGS))

$(OUT)/phantom.tif:
	$(call stage,phantom) $(call tool,talus-phantom) --seed=1 --size=112,112,112 --d50-voxels=22 -o $@ \
	  --overwrite --truth=$(OUT)/truth.csv --labels=$(OUT)/truth_labels.tif

$(OUT)/valley.asc:
	$(call stage,valley) $(call tool,talus-phantom) --terrain --seed=1 -o $@ --overwrite
