# From a CT stack to a catalog of grains, for the chains that include this (avalanche.mk,
# triaxial.mk), which say what STACK, OUT, VOXEL_UM and the *_FLAGS are. LABELS: labels that are there
# already, in place of STACK, and GREY the denoised stack that they were made from, if there is one.
SAMPLE ?= grains
$(call check_words,VOXEL_UM)
$(call check_files,STACK LABELS GREY)
$(if $(LABELS),$(if $(STACK),$(error give STACK or LABELS, not both)),$(if $(GREY),$(error GREY= goes with LABELS=)))
$(call check_texts,SAMPLE DENOISE_FLAGS BINARIZE_FLAGS LABEL_FLAGS AVATAR_FLAGS)
$(call check_kept,STACK LABELS GREY,$(OUT)/denoised.h5 $(OUT)/mask.h5 $(OUT)/labels.h5 $(OUT)/catalog.tals)
voxel := $(if $(VOXEL_UM),--voxel-size-um=$(VOXEL_UM))

settings_denoise = $(call inputs,STACK) $(call values,VOXEL_UM DENOISE_FLAGS)
settings_binarize = $(call values,BINARIZE_FLAGS)
settings_label = $(call values,LABEL_FLAGS)
settings_avatars = $(call inputs,LABELS GREY) $(call values,VOXEL_UM SAMPLE AVATAR_FLAGS)
$(call settings,denoise): $(call changed,denoise) | $(call input,$(STACK))
$(call settings,binarize): $(call changed,binarize)
$(call settings,label): $(call changed,label)
$(call settings,avatars): $(call changed,avatars) | $(if $(LABELS),$(call input,$(LABELS)) $(call input,$(GREY)))

$(OUT)/denoised.h5: $(call input,$(STACK)) $(call settings,denoise)
	$(call stage,denoise) $(call tool,talus-denoise) $(call quote,$(STACK)) -o $@ --overwrite $(voxel) \
	  $(call options,,$(DENOISE_FLAGS))

$(OUT)/mask.h5: $(OUT)/denoised.h5 $(call settings,binarize)
	$(call stage,binarize) $(call tool,talus-binarize) $< -o $@ --overwrite $(call options,,$(BINARIZE_FLAGS))

$(OUT)/labels.h5: $(OUT)/mask.h5 $(OUT)/denoised.h5 $(call settings,label)
	$(call stage,label) $(call tool,talus-label) $< --grey=$(OUT)/denoised.h5 -o $@ --overwrite \
	  $(call options,,$(LABEL_FLAGS))

labels := $(if $(LABELS),$(call input,$(LABELS)),$(OUT)/labels.h5)
grey := $(if $(LABELS),$(call input,$(GREY)),$(OUT)/denoised.h5)
raw := $(if $(LABELS),,--raw=$(call quote,$(STACK)))

# Two tools write to one catalog: a terrain waits for the grains.
$(OUT)/avatars.done: $(labels) $(grey) $(call settings,avatars)
	@mkdir -p $(OUT)
	$(call stage,avatars) $(call tool,talus-avatars) $(call quote,$(or $(LABELS),$(OUT)/labels.h5)) \
	  $(if $(grey),--grey=$(call quote,$(or $(GREY),$(OUT)/denoised.h5))) $(raw) $(voxel) \
	  --catalog=$(OUT)/catalog.tals --sample=$(call quote,$(SAMPLE)) --overwrite $(call options,,$(AVATAR_FLAGS))
	@touch $@
