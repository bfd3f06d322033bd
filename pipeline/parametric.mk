# One figure of a parametric study of the triaxial test: runs that differ in one key, their curves over
# each other (Tan 2022 4.5).
#
#   make -f pipeline/parametric.mk FIGURE=friction OUT=build/triaxial [VALUES="0.2 0.5 0.8"]
#
# FIGURE             the key that differs                       Tan 2022
#   pressure           the cell pressure                          Fig. 4.8
#   ratio              tangential over normal stiffness           Fig. 4.9
#   friction           grain on grain                             Fig. 4.11
#   void               friction while the specimen settles        Fig. 4.12
#   membrane-size      radius of the membrane's spheres           Fig. 4.4
#   membrane-stiffness of its bonds                               Fig. 4.5
#   cap                depth from which contacts bear no more     Fig. 4.6
#   nodes              every N-th node                            Fig. 4.7
#   spheres            spheres in place of the grains             4.5.4
#   platen             fixed or free to tilt                      4.6
# Settings are those of triaxial.mk, and VALUES. Products in OUT/FIGURE: a folder a value, and measures/.
here := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

key_pressure := triaxial.stages.0.pressure_Pa
values_pressure := 5.0e+4 1.0e+5 2.0e+5
key_ratio := penalty.tangential_ratio
values_ratio := 0.1 0.2857 0.8
key_friction := contact.friction
values_friction := 0.2 0.5 0.8
key_void :=
values_void := 0 0.2 0.5
key_membrane-size := triaxial.membrane.radius_m
values_membrane-size := 0.002 0.0025 0.0035
key_membrane-stiffness := triaxial.membrane.stiffness_N_m
values_membrane-stiffness := 250 500 2000
key_cap := penalty.most_share
values_cap := 0.02 0.05 0
key_nodes := penalty.nodes_every
values_nodes := 1 2 4
key_spheres := grains.as_spheres
values_spheres := no yes
key_platen := triaxial.tilts
values_platen := no yes

FIGURE ?= $(error FIGURE= is wanted, one of: $(sort $(patsubst values_%,%,$(filter values_%,$(.VARIABLES)))))
VALUES ?= $(values_$(FIGURE))
include $(here)/triaxial.mk
.DEFAULT_GOAL := parametric

runs := $(VALUES:%=$(OUT)/$(FIGURE)/%)
settled := $(if $(filter void,$(FIGURE)),$(OUT)/void/specimen-%,$(OUT)/specimen)

.PHONY: parametric
parametric: $(OUT)/$(FIGURE)/measures.done
	@cat $(OUT)/$(FIGURE)/measures/triaxial_runs.csv

$(OUT)/void/specimen-%.done: $(OUT)/sizes.txt $(SPECIMEN_STUDY)
	OMP_NUM_THREADS=$(THREADS) $(call stage,specimen-$*) $(call tool,talus-solve) $(SPECIMEN_STUDY) \
	  --catalog=$(OUT)/catalog.tals -o $(basename $@) --overwrite $$(sed 's/^/--set=/' $<) \
	  $(SPECIMEN_SET:%=--set=%) --set=contact.friction=$* --set=contact.boundary_friction=$*
	@touch $@

# The value is the folder's name after the figure's.
$(OUT)/$(FIGURE)/%.done: $(settled).done $(STUDY)
	OMP_NUM_THREADS=$(THREADS) $(call stage,$(FIGURE)-$*) $(call tool,talus-mpirun) -n $(RANKS) \
	  $(call tool,talus-solve) $(STUDY) --catalog=$(OUT)/catalog.tals -o $(basename $@) --overwrite \
	  --set=release.run=$(abspath $(basename $<)) --set=$$(head -1 $(OUT)/sizes.txt) \
	  $(SET:%=--set=%) $(if $(key_$(FIGURE)),--set=$(key_$(FIGURE))=$*)
	@touch $@

$(OUT)/$(FIGURE)/measures.done: $(runs:%=%.done)
	$(call stage,$(FIGURE)-measures) $(call tool,talus-measure) $(firstword $(runs)) \
	  -o $(OUT)/$(FIGURE)/measures --overwrite --triaxial --plot \
	  $(patsubst %,--with=%,$(wordlist 2,$(words $(runs)),$(runs))) \
	  $(if $(key_$(FIGURE)),,$(VALUES:%=--label='settled with friction %')) $(MEASURE_FLAGS)
	@touch $@
