# From a CT stack and an elevation raster to a simulated avalanche, stage by stage:
#
#   make -f pipeline/avalanche.mk STACK=scan.tif VOXEL_UM=10 DEM=slope.tif OUT=out [STUDY=my.yaml]
#
# Every product is written under a temporary name and renamed when whole, so a chain that was
# stopped goes on where it was; -j is safe. Settings (all optional but STACK, DEM, OUT):
#   VOXEL_UM   voxel size in micrometres, X or X,Y,Z; when the stack does not say it
#   STUDY      the study file (default config/avalanche.yaml)
#   SET        further keys for the study: SET="grains.grain_scale=3000 time.duration_s=8"
#   RANKS      MPI ranks (1), THREADS a rank (all cores): one island over two ranks costs messages,
#              so on one machine threads are the faster way to the same bits
#   *_FLAGS    options of one tool: DENOISE_FLAGS, BINARIZE_FLAGS, LABEL_FLAGS, AVATAR_FLAGS,
#              TOPO_FLAGS, RENDER_FLAGS, REPORT_FLAGS
#   BIN        folder of the tools (default build/bin, else PATH)
# A changed setting does not remake what is there (make looks at files): remove the product, or its
# .done mark, and all that follows it is made again.
# Products in OUT: denoised.h5 mask.h5 labels.h5 catalog.tals run/ measures/ pictures/ report.html stages.csv

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := avalanche
here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

STUDY ?= $(firstword $(wildcard $(here)/../config/avalanche.yaml $(here)/avalanche.yaml))
RANKS ?= 1
THREADS ?= $(shell nproc)
TERRAIN ?= slope
STACK ?= $(error STACK= is wanted: the CT stack)
DEM ?= $(error DEM= is wanted: the elevation raster)
include $(here)/imaging.mk

.PHONY: avalanche
avalanche: $(OUT)/measures.done $(OUT)/pictures.done $(OUT)/report.html
	@$(here)/summary.sh $(OUT)

$(OUT)/terrain.done: $(DEM) | $(OUT)/avatars.done
	$(call stage,topo) $(call tool,talus-topo) $< --catalog=$(OUT)/catalog.tals --name=$(TERRAIN) \
	  --overwrite $(TOPO_FLAGS)
	@touch $@

$(OUT)/run.done: $(OUT)/avatars.done $(OUT)/terrain.done $(STUDY)
	$(call solve,solve,$(OUT)/run,$^) $(STUDY) --catalog=$(OUT)/catalog.tals $(SET:%=--set=%)
	@touch $@

$(OUT)/measures.done: $(OUT)/run.done
	$(call stage,measure) $(call tool,talus-measure) $(OUT)/run -o $(OUT)/measures --overwrite
	@touch $@

$(OUT)/report.html: $(OUT)/run.done | $(OUT)/pictures.done
	$(call stage,report) $(call tool,talus-report) $(OUT)/run -o $@ --overwrite $(REPORT_FLAGS)

$(OUT)/pictures.done: $(OUT)/measures.done
	mkdir -p $(OUT)/pictures
	$(call stage,render) $(call tool,talus-render) $(OUT)/run --frame=all --zoom=grains \
	  -o $(OUT)/pictures --overwrite $(RENDER_FLAGS)
	$(call stage,view) $(call tool,talus-render) $(OUT)/run --frame=last -o $(OUT)/pictures/path.png \
	  --overwrite $(RENDER_FLAGS)
	$(call stage,plots) $(call tool,talus-render) $(OUT)/run --plots --csv=$(OUT)/measures/frames.csv \
	  -o $(OUT)/pictures --overwrite
	$(call stage,grading) $(call tool,talus-catalog) grading $(OUT)/catalog.tals \
	  -o $(OUT)/measures/grading.csv --plot=$(OUT)/pictures/grading.png --overwrite
	@touch $@
