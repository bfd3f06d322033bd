# The demo: the whole chain on data made on the spot, by `make demo`. OUT= moves it elsewhere.
# `make -f pipeline/demo.mk forecast` says how long it will take.
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
OUT ?= $(if $(wildcard $(here)/../config),build/demo,demo)
RENDER_FLAGS ?= --width=960 --height=600
# One thread solves: with 154 grains the team of threads costs more than it gives (measured on two
# idle cores: 7.5 s for what two threads do in 12.0 s).
THREADS ?= 1
STACK := $(OUT)/phantom.tif
DEM := $(OUT)/valley.asc
include $(here)/avalanche.mk
.DEFAULT_GOAL := demo

.PHONY: demo
demo: avalanche

$(STACK):
	$(call stage,phantom) $(call tool,talus-phantom) --seed=1 --size=112,112,112 --d50-voxels=22 -o $@ \
	  --overwrite --truth=$(OUT)/truth.csv --labels=$(OUT)/truth_labels.tif

$(DEM):
	$(call stage,valley) $(call tool,talus-phantom) --terrain --seed=1 -o $@ --overwrite
