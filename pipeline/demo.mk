# The demo: the whole chain on data made on the spot, by `make demo`. OUT= moves it elsewhere.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := demo
here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BIN ?= $(abspath $(here)/../build/bin)
OUT ?= build/demo

# One thread solves: with 154 grains the team of threads costs more than it gives (measured on two
# idle cores: 7.5 s for what two threads do in 12.0 s).
.PHONY: demo
demo: $(OUT)/phantom.tif $(OUT)/valley.asc
	@$(MAKE) --no-print-directory -f $(here)/avalanche.mk BIN=$(BIN) STACK=$(OUT)/phantom.tif \
	  DEM=$(OUT)/valley.asc OUT=$(OUT) STUDY=$(here)/../config/avalanche.yaml THREADS=1 \
	  RENDER_FLAGS="--width=960 --height=600"

$(OUT):
	mkdir -p $@

$(OUT)/phantom.tif: | $(OUT)
	$(here)/stage.sh phantom $(OUT)/stages.csv $(BIN)/talus-phantom \
	  --seed=1 --size=112,112,112 --d50-voxels=22 -o $@ --overwrite \
	  --truth=$(OUT)/truth.csv --labels=$(OUT)/truth_labels.tif

$(OUT)/valley.asc: | $(OUT)
	$(here)/stage.sh valley $(OUT)/stages.csv $(BIN)/talus-phantom --terrain --seed=1 -o $@ --overwrite
