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
# Flags and keys are words parted by blanks; no shell sees them, so quotation marks in them are letters.
# What was done stays, with the settings it was made with in OUT/settings; a stage whose settings differ, or whose file is
# another, is made again with all that follows it.
# `make -f pipeline/avalanche.mk forecast` with the same settings says how long each stage will take.
# Products in OUT: denoised.h5 mask.h5 labels.h5 catalog.tals run/ measures/ pictures/ report.html stages.csv

.DEFAULT_GOAL := avalanche
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
include $(here)/common.mk

STUDY ?= $(firstword $(wildcard $(here)/../config/avalanche.yaml $(here)/avalanche.yaml))
RANKS ?= 1
THREADS ?= $(shell nproc)
TERRAIN ?= slope
STACK ?= $(error STACK= is wanted: the CT stack)
DEM ?= $(error DEM= is wanted: the elevation raster)
$(call check_words,RANKS THREADS)
$(call check_files,DEM STUDY)
$(call check_texts,TERRAIN SET TOPO_FLAGS RENDER_FLAGS REPORT_FLAGS)
$(call check_kept,DEM,$(OUT)/catalog.tals)
include $(here)/imaging.mk

.PHONY: avalanche
avalanche: $(OUT)/measures.done $(OUT)/pictures.done $(OUT)/report.html
	@$(call script,summary.sh) $(OUT)

settings_topo = $(call inputs,DEM) $(call values,TERRAIN TOPO_FLAGS)
settings_solve = $(call inputs,STUDY) $(call values,SET)
settings_pictures = $(call values,RENDER_FLAGS)
settings_report = $(call values,REPORT_FLAGS)
$(call settings,topo): $(call changed,topo) | $(call input,$(DEM))
$(call settings,solve): $(call changed,solve)
$(call settings,pictures): $(call changed,pictures)
$(call settings,report): $(call changed,report)

$(OUT)/terrain.done: $(call input,$(DEM)) $(call settings,topo) | $(OUT)/avatars.done
	$(call stage,topo) $(call tool,talus-topo) $(call quote,$(DEM)) --catalog=$(OUT)/catalog.tals \
	  --name=$(call quote,$(TERRAIN)) --overwrite $(call options,,$(TOPO_FLAGS))
	@touch $@

$(OUT)/run.done: $(OUT)/avatars.done $(OUT)/terrain.done $(call input,$(STUDY)) $(call settings,solve)
	$(call solve,solve,$(OUT)/run,$(OUT)/avatars.done $(OUT)/terrain.done $(call quote,$(STUDY))) \
	  $(call quote,$(STUDY)) --catalog=$(OUT)/catalog.tals $(call options,--set=,$(SET))
	@touch $@

$(OUT)/measures.done: $(OUT)/run.done
	$(call stage,measure) $(call tool,talus-measure) $(OUT)/run -o $(OUT)/measures --overwrite
	@touch $@

$(OUT)/report.html: $(OUT)/run.done $(call settings,report) | $(OUT)/pictures.done
	$(call stage,report) $(call tool,talus-report) $(OUT)/run -o $@ --overwrite $(call options,,$(REPORT_FLAGS))

$(OUT)/pictures.done: $(OUT)/measures.done $(call settings,pictures)
	mkdir -p $(OUT)/pictures
	$(call stage,render) $(call tool,talus-render) $(OUT)/run --frame=all --zoom=grains \
	  -o $(OUT)/pictures --overwrite $(call options,,$(RENDER_FLAGS))
	$(call stage,view) $(call tool,talus-render) $(OUT)/run --frame=last -o $(OUT)/pictures/path.png \
	  --overwrite $(call options,,$(RENDER_FLAGS))
	$(call stage,plots) $(call tool,talus-render) $(OUT)/run --plots --csv=$(OUT)/measures/frames.csv \
	  -o $(OUT)/pictures --overwrite
	$(call stage,grading) $(call tool,talus-catalog) grading $(OUT)/catalog.tals \
	  -o $(OUT)/measures/grading.csv --plot=$(OUT)/pictures/grading.png --overwrite
	@touch $@
