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
# Flags are words parted by blanks; no shell sees them, so quotation marks in them are letters.
# A run that was stopped goes on with the first product that is not there.
# Products in OUT: stack.tif denoised.tif mask.h5 labels.h5 catalog.tals stages.csv

.DEFAULT_GOAL := large
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
include $(here)/common.mk
BLOCK ?= 512
TILES ?= 2
D50 ?= 60
NOISE ?= 20
SEED ?= 1
MEMORY_MB ?= 3000
EVERY ?= 1
THREADS ?= 1
STACK ?= $(OUT)/stack.tif
$(call check_words,BLOCK TILES D50 NOISE SEED MEMORY_MB EVERY THREADS VOXEL_UM)
$(call check_files,STACK)
$(call check_texts,DENOISE_FLAGS BINARIZE_FLAGS LABEL_FLAGS AVATAR_FLAGS)
$(call check_kept,STACK,$(OUT)/denoised.tif $(OUT)/mask.h5 $(OUT)/labels.h5 $(OUT)/catalog.tals)
voxel := $(if $(VOXEL_UM),--voxel-size-um=$(VOXEL_UM))
stage = OMP_NUM_THREADS=$(THREADS) $(call script,stage.sh) $(1) $(OUT)/stages.csv
common = --overwrite --threads=$(THREADS)

# What a process has beside its arrays (libraries, buffers of files: some 30 MB) goes off first.
spare := $(shell expr $(MEMORY_MB) - $(MEMORY_MB) / 16 - 30)

.PHONY: large
large: $(OUT)/avatars.done
	@$(call script,large.sh) $(OUT)/stages.csv $(MEMORY_MB)

settings_phantom = $(call values,BLOCK TILES D50 NOISE SEED)
settings_denoise = $(call inputs,STACK) $(call values,VOXEL_UM DENOISE_FLAGS)
settings_binarize = $(call values,BINARIZE_FLAGS)
settings_label = $(call values,LABEL_FLAGS)
settings_avatars = $(call values,EVERY AVATAR_FLAGS)
$(call settings,phantom): $(call changed,phantom)
$(call settings,denoise): $(call changed,denoise) | $(call input,$(STACK))
$(call settings,binarize): $(call changed,binarize)
$(call settings,label): $(call changed,label)
$(call settings,avatars): $(call changed,avatars)

$(OUT)/stack.tif: $(call settings,phantom)
	$(call stage,phantom) $(call tool,talus-phantom) --size=$(BLOCK),$(BLOCK),$(BLOCK) \
	  --tiles=$(TILES),$(TILES),$(TILES) --d50-voxels=$(D50) --size-ratio=1.82 --shapes=rounded \
	  --noise=$(NOISE) --seed=$(SEED) -o $@ $(common)

$(OUT)/denoised.tif: $(call input,$(STACK)) $(call settings,denoise)
	$(call stage,denoise) $(call tool,talus-denoise) $(call quote,$(STACK)) -o $@ --memory=$(spare) $(voxel) $(common) \
	  $(call options,,$(DENOISE_FLAGS))

$(OUT)/mask.h5: $(OUT)/denoised.tif $(call settings,binarize)
	$(call stage,binarize) $(call tool,talus-binarize) $< -o $@ --memory=$(spare) $(common) \
	  $(call options,,$(BINARIZE_FLAGS))

$(OUT)/labels.h5: $(OUT)/mask.h5 $(OUT)/denoised.tif $(call settings,label)
	$(call stage,label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.tif -o $@ \
	  --memory=$(spare) $(common) $(call options,,$(LABEL_FLAGS))

$(OUT)/avatars.done: $(OUT)/labels.h5 $(OUT)/denoised.tif $(call settings,avatars)
	$(call stage,avatars) $(call tool,talus-avatars) $(OUT)/labels.h5 --grey=$(OUT)/denoised.tif \
	  --raw=$(call quote,$(STACK)) --catalog=$(OUT)/catalog.tals --sample=large --memory=$(spare) $(voxel) \
	  --every=$(EVERY) $(common) $(call options,,$(AVATAR_FLAGS))
	@touch $@
