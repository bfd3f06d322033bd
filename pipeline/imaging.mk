# From a CT stack to a catalog of grains, for the chains that include this (avalanche.mk,
# triaxial.mk), which say what STACK, OUT, VOXEL_UM and the *_FLAGS are.
SAMPLE ?= grains
$(call check_words,VOXEL_UM)
$(call check_files,STACK)
$(call check_texts,SAMPLE DENOISE_FLAGS BINARIZE_FLAGS LABEL_FLAGS AVATAR_FLAGS)
$(call check_kept,STACK,$(OUT)/denoised.h5 $(OUT)/mask.h5 $(OUT)/labels.h5 $(OUT)/catalog.tals)
voxel := $(if $(VOXEL_UM),--voxel-size-um=$(VOXEL_UM))

$(OUT)/denoised.h5: $(call input,$(STACK))
	$(call stage,denoise) $(call tool,talus-denoise) $(call quote,$(STACK)) -o $@ --overwrite $(voxel) \
	  $(call options,,$(DENOISE_FLAGS))

$(OUT)/mask.h5: $(OUT)/denoised.h5
	$(call stage,binarize) $(call tool,talus-binarize) $< -o $@ --overwrite $(call options,,$(BINARIZE_FLAGS))

$(OUT)/labels.h5: $(OUT)/mask.h5 $(OUT)/denoised.h5
	$(call stage,label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.h5 -o $@ --overwrite \
	  $(call options,,$(LABEL_FLAGS))

# Two tools write to one catalog: a terrain waits for the grains.
$(OUT)/avatars.done: $(OUT)/labels.h5 $(OUT)/denoised.h5
	$(call stage,avatars) $(call tool,talus-avatars) $(OUT)/labels.h5 --grey=$(OUT)/denoised.h5 \
	  --raw=$(call quote,$(STACK)) --catalog=$(OUT)/catalog.tals --sample=$(call quote,$(SAMPLE)) --overwrite \
	  $(call options,,$(AVATAR_FLAGS))
	@touch $@
