# From a CT stack to the curves of a triaxial test, stage by stage:
#
#   make -f pipeline/triaxial.mk STACK=scan.tif VOXEL_UM=10 OUT=out
#   make -f pipeline/triaxial.mk TEST=test.yaml OUT=out     a test in a few keys: triaxial_test.sh lists them
#
# Without STACK a phantom is made. Grains of the scan, of sizes about the median, made MEDIAN_M across
# so that one cell fits any scan, settle in a tube (impulses), get a membrane and platens, are
# consolidated and sheared (penalty). What was done stays, with the settings it was made with in OUT/settings; a stage
# whose settings differ, or whose file is another, is made again with all that follows it. A chain that was stopped goes
# on, a run from its newest checkpoint. SPECIMEN_STUDY=config/triaxial-full-specimen.yaml and
# STUDY=config/triaxial-full.yaml make the test of 4,900 grains.
# Settings (all optional but OUT):
#   TEST            file of keys for grains, pressure, friction, strain ...; SET and SPECIMEN_SET win over it
#   LABELS, GREY    a labelled stack and its denoised one, in place of STACK
#   VOXEL_UM        voxel size in micrometres, X or X,Y,Z; when the stack does not say it
#   SPECIMEN_STUDY  the specimen's study (default config/triaxial-specimen.yaml), SPECIMEN_SET its keys:
#                   SPECIMEN_SET="contact.friction=0.5 contact.boundary_friction=0.5" settles it loose
#   STUDY           the test's study (default config/triaxial.yaml), SET its keys:
#                   SET="contact.friction=0.3 triaxial.tilts=yes"
#   MEDIAN_M        median diameter the grains are made to, m (0.009, that of the studies)
#   RANKS           MPI ranks of the test (1), SPECIMEN_RANKS of the specimen (1: impulses across
#                   ranks are slow), THREADS a rank (all cores)
#   *_FLAGS         options of one tool: DENOISE_FLAGS, BINARIZE_FLAGS, LABEL_FLAGS, AVATAR_FLAGS,
#                   MEASURE_FLAGS, RENDER_FLAGS, REPORT_FLAGS
#   COMPARE         a laboratory's curve (CSV, units in its header) to draw with ours
#   BIN             folder of the tools (default build/bin, else PATH)
# Flags and keys are words parted by blanks; no shell sees them, so quotation marks in them are letters.
# `make -f pipeline/triaxial.mk forecast` with the same settings says how long each stage will take.
# Products in OUT: denoised.h5 mask.h5 labels.h5 catalog.tals specimen/ run/ measures/ pictures/
# report.html stages.csv; scan.html, a report of the scan, when it is asked for

.DEFAULT_GOAL := triaxial
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
include $(here)/common.mk

TEST_TITLE :=
TEST_SET :=
TEST_SPECIMEN_SET :=
test_keys = $(if $(TEST_TITLE),--set=$(call quote,title=$(TEST_TITLE))) $(call options,--set=,$(TEST_SET) $(SET))
ifdef TEST
$(call check_names,TEST)
settings_test = $(call inputs,TEST)
$(call settings,test): $(call changed,test)
$(OUT)/test.mk: $(TEST) $(here)/triaxial_test.sh $(call settings,test)
	@mkdir -p $(OUT)
	@$(call script,triaxial_test.sh) $(TEST) >$@.tmp
	@mv $@.tmp $@
include $(OUT)/test.mk
endif

study = $(firstword $(wildcard $(here)/../config/$(1) $(here)/$(1)))
STUDY ?= $(call study,triaxial.yaml)
SPECIMEN_STUDY ?= $(call study,triaxial-specimen.yaml)
MEDIAN_M ?= 0.009
RANKS ?= 1
SPECIMEN_RANKS ?= 1
THREADS ?= $(shell nproc)
$(if $(LABELS),,$(eval STACK ?= $(OUT)/phantom.tif))
$(call check_words,MEDIAN_M RANKS SPECIMEN_RANKS THREADS)
$(call check_files,STUDY SPECIMEN_STUDY)
$(call check_files,COMPARE)
$(call check_texts,SET SPECIMEN_SET MEASURE_FLAGS RENDER_FLAGS REPORT_FLAGS)
compare := $(if $(COMPARE),--compare=$(call quote,$(COMPARE)))
include $(here)/imaging.mk

.PHONY: triaxial
triaxial: $(OUT)/measures.done $(OUT)/pictures.done $(OUT)/report.html
	@$(call script,summary.sh) $(OUT)

settings_sizes = $(call values,MEDIAN_M)
settings_specimen = $(call inputs,SPECIMEN_STUDY) $(call values,TEST_SPECIMEN_SET SPECIMEN_SET)
settings_solve = $(call inputs,STUDY) $(call values,TEST_TITLE TEST_SET SET)
settings_measure = $(call inputs,COMPARE) $(call values,MEASURE_FLAGS)
settings_pictures = $(call values,RENDER_FLAGS)
settings_report = $(call inputs,COMPARE) $(call values,REPORT_FLAGS)
$(call settings,sizes): $(call changed,sizes)
$(call settings,specimen): $(call changed,specimen)
$(call settings,solve): $(call changed,solve)
$(call settings,measure): $(call changed,measure)
$(call settings,pictures): $(call changed,pictures)
$(call settings,report): $(call changed,report)

$(OUT)/phantom.tif:
	$(call stage,phantom) $(call tool,talus-phantom) --seed=1 --size=112,112,112 --d50-voxels=22 \
	  -o $@ --overwrite

# The keys of scale and size, one a line: sizes from 3/4 to 4/3 of the median, a narrow grading, in
# which no few large grains are the specimen.
$(OUT)/sizes.txt: $(OUT)/avatars.done $(call settings,sizes)
	$(call tool,talus-catalog) grading $(OUT)/catalog.tals -o $(OUT)/grading.csv --overwrite | \
	  awk -v m=$(MEDIAN_M) '$$1 == "d50:" && $$3 == "mm" && $$2 > 0 {d = 1e-3 * $$2} \
	  END {if (!d) {print "talus-catalog grading says no d50 in mm" >"/dev/stderr"; exit 1} \
	  printf "grains.grain_scale=%.6g\ngrains.least_diameter_m=%.6g\ngrains.most_diameter_m=%.6g\n", \
	  m / d, 0.75 * d, d / 0.75}' >$@.tmp
	mv $@.tmp $@

# Inputs, ranks and study of a specimen's run, for the figures of parametric.mk too.
specimen_from := $(OUT)/sizes.txt $(call quote,$(SPECIMEN_STUDY))
specimen_study := $(call quote,$(SPECIMEN_STUDY)) --catalog=$(OUT)/catalog.tals

$(OUT)/specimen.done: $(OUT)/sizes.txt $(call input,$(SPECIMEN_STUDY)) $(if $(TEST),$(OUT)/test.mk) \
  $(call settings,specimen)
	$(call solve,specimen,$(OUT)/specimen,$(specimen_from),$(SPECIMEN_RANKS)) $(specimen_study) \
	  $$(sed 's/^/--set=/' $<) $(call options,--set=,$(TEST_SPECIMEN_SET) $(SPECIMEN_SET))
	@touch $@

$(OUT)/run.done: $(OUT)/specimen.done $(call input,$(STUDY)) $(if $(TEST),$(OUT)/test.mk) $(call settings,solve)
	$(call solve,solve,$(OUT)/run,$(OUT)/specimen.done $(call quote,$(STUDY))) $(call quote,$(STUDY)) \
	  --catalog=$(OUT)/catalog.tals --set=release.run=$(call quote,$(abspath $(OUT))/specimen) \
	  --set=$$(head -1 $(OUT)/sizes.txt) $(test_keys)
	@touch $@

$(OUT)/measures.done: $(OUT)/run.done $(call settings,measure)
	$(call stage,measure) $(call tool,talus-measure) $(OUT)/run -o $(OUT)/measures --overwrite \
	  --triaxial --packing --plot $(compare) $(call options,,$(MEASURE_FLAGS))
	@touch $@

# Of the test, and (not made by itself) of the scan.
$(OUT)/report.html: $(OUT)/run.done $(call settings,report) | $(OUT)/pictures.done
	$(call stage,report) $(call tool,talus-report) $(OUT)/run -o $@ --overwrite $(compare) $(call options,,$(REPORT_FLAGS))

$(OUT)/scan.html: $(OUT)/avatars.done
	$(call stage,scan-report) $(call tool,talus-report) $(OUT)/catalog.tals -o $@ --overwrite

# The last frame before the shear, as the measures count from.
sheared_from = awk -F, 'NR == FNR {if ($$1 == "shear_begins") t = $$2; next} \
  FNR > 1 && $$3 <= t {n = $$1} END {print n + 0}' $(OUT)/measures/triaxial_summary.csv $(OUT)/measures/packing.csv

$(OUT)/pictures.done: $(OUT)/measures.done $(call settings,pictures)
	mkdir -p $(OUT)/pictures
	$(call stage,render) $(call tool,talus-render) $(OUT)/run --frame=all -o $(OUT)/pictures \
	  --overwrite $(call options,,$(RENDER_FLAGS))
	$(call stage,chains) $(call tool,talus-render) $(OUT)/run --chains --zoom=grains --view=-60,4 \
	  -o $(OUT)/pictures/chains.png --overwrite $(call options,,$(RENDER_FLAGS))
	$(call stage,section) $(call tool,talus-render) $(OUT)/run --colour=rotation --cut=0 \
	  --since=$$($(sheared_from)) --zoom=grains -o $(OUT)/pictures/rotation.png --overwrite $(call options,,$(RENDER_FLAGS))
	$(call stage,plots) $(call tool,talus-render) $(OUT)/run --plots -o $(OUT)/pictures --overwrite
	@touch $@
