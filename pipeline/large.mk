# A stack larger than memory through the imaging chain, each stage held to the same memory:
#
#   make -f pipeline/large.mk OUT=large [BLOCK=512 TILES=2 MEMORY_MB=3000]
#   make -f pipeline/large.mk OUT=large STACK=scan.tif VOXEL_UM=10
#
# Without STACK the stack is made: TILES^3 copies of a periodic packing of BLOCK^3 voxels (16 bit,
# grains of D50 voxels, noise of NOISE grey levels of its own at each voxel). At the end a table of what each
# stage cost; exit status 1 when a stage's peak memory was over MEMORY_MB (10^6 bytes).
#   EVERY      avatars of each EVERY-th grain only (1: all): their time is that of the grains, and
#              theirs alone
#   THREADS    1; what a stage needs grows little with it
#   DENOISE_FLAGS, BINARIZE_FLAGS, LABEL_FLAGS, AVATAR_FLAGS: options of one tool
#   BIN        folder of the tools (default build/bin, else PATH)
# A run that was stopped goes on with the first product that is not there.
# Products in OUT: stack.tif denoised.tif mask.h5 labels.h5 catalog.tals stages.csv

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := large
here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

ifneq ($(wildcard $(here)/../build/bin/talus-denoise),)
BIN ?= $(abspath $(here)/../build/bin)
endif
tool = $(if $(BIN),$(BIN)/)$(1)
OUT ?= $(error OUT= is wanted: the folder for the products)
BLOCK ?= 512
TILES ?= 2
D50 ?= 60
NOISE ?= 20
SEED ?= 1
MEMORY_MB ?= 3000
EVERY ?= 1
THREADS ?= 1
STACK ?= $(OUT)/stack.tif
voxel := $(if $(VOXEL_UM),--voxel-size-um=$(VOXEL_UM))
stage = OMP_NUM_THREADS=$(THREADS) $(here)/stage.sh $(1) $(OUT)/stages.csv
common = --overwrite --threads=$(THREADS)

# What a process has beside its arrays (libraries, buffers of files: some 30 MB) goes off first.
spare := $(shell expr $(MEMORY_MB) - $(MEMORY_MB) / 16 - 30)

.PHONY: large
large: $(OUT)/avatars.done
	@$(here)/large.sh $(OUT)/stages.csv $(MEMORY_MB)

$(OUT):
	mkdir -p $@

$(OUT)/stack.tif: | $(OUT)
	$(call stage,phantom) $(call tool,talus-phantom) --size=$(BLOCK),$(BLOCK),$(BLOCK) \
	  --tiles=$(TILES),$(TILES),$(TILES) --d50-voxels=$(D50) --size-ratio=1.82 --shapes=rounded \
	  --noise=$(NOISE) --seed=$(SEED) -o $@ $(common)

$(OUT)/denoised.tif: $(STACK) | $(OUT)
	$(call stage,denoise) $(call tool,talus-denoise) $< -o $@ --memory=$(spare) $(voxel) $(common) \
	  $(DENOISE_FLAGS)

$(OUT)/mask.h5: $(OUT)/denoised.tif
	$(call stage,binarize) $(call tool,talus-binarize) $< -o $@ --memory=$(spare) $(common) \
	  $(BINARIZE_FLAGS)

$(OUT)/labels.h5: $(OUT)/mask.h5 $(OUT)/denoised.tif
	$(call stage,label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.tif -o $@ \
	  --memory=$(spare) $(common) $(LABEL_FLAGS)

$(OUT)/avatars.done: $(OUT)/labels.h5 $(OUT)/denoised.tif
	$(call stage,avatars) $(call tool,talus-avatars) $(OUT)/labels.h5 --grey=$(OUT)/denoised.tif \
	  --raw='$(STACK)' --catalog=$(OUT)/catalog.tals --sample=large --memory=$(spare) \
	  --every=$(EVERY) $(common) $(AVATAR_FLAGS)
	@touch $@
