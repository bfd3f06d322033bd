# From a CT stack to a catalog of grains, for the chains that include this (avalanche.mk,
# triaxial.mk), which say what STACK, OUT, VOXEL_UM and the *_FLAGS are. here: this folder.
ifneq ($(wildcard $(here)/../build/bin/talus-solve),)
BIN ?= $(abspath $(here)/../build/bin)
endif
tool = $(if $(BIN),$(BIN)/)$(1)
SAMPLE ?= grains
OUT ?= $(error OUT= is wanted: the folder for the products)
voxel := $(if $(VOXEL_UM),--voxel-size-um=$(VOXEL_UM))
stage = $(here)/stage.sh $(1) $(OUT)/stages.csv
# Stage $(1), a solver's run into folder $(2) from files $(3), on $(4) ranks (RANKS); its study and
# options follow.
solve = OMP_NUM_THREADS=$(THREADS) $(call stage,$(1)) $(here)/solve.sh $(2) "$(3)" \
  "$(call tool,talus-mpirun) -n $(or $(4),$(RANKS)) $(call tool,talus-solve)"

$(OUT):
	mkdir -p $@

$(OUT)/denoised.h5: $(STACK) | $(OUT)
	$(call stage,denoise) $(call tool,talus-denoise) $< -o $@ --overwrite $(voxel) $(DENOISE_FLAGS)

$(OUT)/mask.h5: $(OUT)/denoised.h5
	$(call stage,binarize) $(call tool,talus-binarize) $< -o $@ --overwrite $(BINARIZE_FLAGS)

$(OUT)/labels.h5: $(OUT)/mask.h5 $(OUT)/denoised.h5
	$(call stage,label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.h5 -o $@ --overwrite \
	  $(LABEL_FLAGS)

# Two tools write to one catalog: a terrain waits for the grains.
$(OUT)/avatars.done: $(OUT)/labels.h5 $(OUT)/denoised.h5
	$(call stage,avatars) $(call tool,talus-avatars) $(OUT)/labels.h5 --grey=$(OUT)/denoised.h5 \
	  --raw='$(STACK)' --catalog=$(OUT)/catalog.tals --sample=$(SAMPLE) --overwrite $(AVATAR_FLAGS)
	@touch $@
