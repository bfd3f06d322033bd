# One figure of a parametric study of the triaxial test: runs that differ in one key, their curves over
# each other (Tan 2022 4.5).
#
#   make -f pipeline/parametric.mk FIGURE=friction OUT=build/triaxial [VALUES="0.2 0.8"]
#
# The first curve is the test in OUT/run (pipeline/triaxial.mk runs it when it is not there); each of
# VALUES is one more. They are values of a key, the same as the study's but for that:
# FIGURE             what differs                               Tan 2022
#   pressure           the cell pressure, Pa                      Fig. 4.8
#   ratio              tangential over normal stiffness           Fig. 4.9
#   friction           grain on grain                             Fig. 4.11
#   void               friction while the specimen settles        Fig. 4.12
#   density            the void ratio that a loose specimen is
#                      relaxed to under the cell pressure         Fig. 4.12
#   membrane-size      radius of the membrane's spheres, m        Fig. 4.4
#   membrane-stiffness of its bonds, N/m                          Fig. 4.5
#   layers             of the membrane                            4.4.2
#   scale              pressure and all stiffness by this factor,
#                      times by its root: the same test slower    Fig. 4.3
#   cap                depth from which contacts bear no more     Fig. 4.6
#   nodes              every N-th node                            Fig. 4.7
#   spheres            spheres of the grains' volumes, settled
#                      as spheres with this friction              4.5.4
#   platen             fixed or free to tilt                      4.6
# Settings are those of triaxial.mk, and VALUES. Products in OUT/FIGURE: a folder a value, and measures/.
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

# keys_FIGURE: what is set for value $(1); values_FIGURE: the default of VALUES.
keys_pressure = triaxial.stages.0.pressure_Pa=$(1)
values_pressure := 5.0e+4 2.0e+5
keys_ratio = penalty.tangential_ratio=$(1)
values_ratio := 0.1 0.8
keys_friction = contact.friction=$(1)
values_friction := 0.2 0.8
keys_void =
values_void := 0.2 0.5
# a specimen that still swings from it has no initial modulus
keys_density = triaxial.stages.0.void_ratio=$(1) triaxial.stages.0.friction=0 \
  triaxial.stages.0.ramp_s=0.04 triaxial.stages.0.until_unbalanced=0.003 \
  triaxial.stages.0.until_kinetic_share=0.001 triaxial.stages.0.most_s=0.3
values_density := 0.45 0.5 0.55
keys_membrane-size = triaxial.membrane.radius_m=$(1)
values_membrane-size := 0.002 0.0035
keys_membrane-stiffness = triaxial.membrane.stiffness_N_m=$(1)
values_membrane-stiffness := 1000 3000
keys_layers = triaxial.membrane.layers=$(1)
values_layers := 2
# of config/triaxial.yaml
keys_scale = $(keys_scale_$(1))
keys_scale_0.01 := triaxial.stages.0.pressure_Pa=1.0e+3 triaxial.stages.0.ramp_s=0.2 \
  triaxial.stages.0.damping_per_s=20 triaxial.stages.0.most_s=1 triaxial.stages.1.rate_per_s=0.06 \
  penalty.normal_Pa_m=3.0e+9 penalty.normal_N_m=5.0e+2 contact.damping_per_s=0.5 \
  triaxial.membrane.stiffness_N_m=15 triaxial.membrane.tangential_stiffness_N_m=3 \
  time.dt_s=5.0e-5 time.duration_s=20 time.frame_every_s=0.2 time.history_every_s=2.0e-3
values_scale := 0.01
keys_cap = penalty.most_share=$(1)
values_cap := 0.05 0.1
keys_nodes = penalty.nodes_every=$(1)
values_nodes := 2 4
# contacts as stiff as those of grains, some 1e5 N/m
keys_spheres = grains.as_spheres=yes penalty.normal_N_m=1.5e+5
values_spheres := 0.1 0.5
keys_platen = triaxial.tilts=$(1)
values_platen := yes

# Where keys do not say it.
label_study := as the study says
label_void := settled with friction
label_density := relaxed to void ratio
label_spheres := spheres settled with friction
label_scale := pressure and stiffness times

FIGURE ?= $(error FIGURE= is wanted, one of: $(sort $(patsubst values_%,%,$(filter values_%,$(.VARIABLES)))))
VALUES ?= $(values_$(FIGURE))
include $(here)/triaxial.mk
.DEFAULT_GOAL := parametric

$(call check_names,FIGURE)
$(call check_words,VALUES)
runs := $(VALUES:%=$(OUT)/$(FIGURE)/%)
keys = $(or $(strip $(call keys_$(FIGURE),$(1))),$(if $(filter-out void,$(FIGURE)),$(error \
  FIGURE=$(FIGURE) has no value $(1), but: $(values_$(FIGURE)))))
# figures whose values are settled, each with keys of its own
settles_void = contact.friction=$(1) contact.boundary_friction=$(1)
settles_spheres = grains.as_spheres=yes $(settles_void)
settles_density = $(settles_void)
settled_density := $(OUT)/density/specimen-1.0
settled := $(or $(settled_$(FIGURE)),$(if $(settles_$(FIGURE)),$(OUT)/$(FIGURE)/specimen-%,$(OUT)/specimen))

.PHONY: parametric
parametric: $(OUT)/$(FIGURE)/measures.done
	@cat $(OUT)/$(FIGURE)/measures/triaxial_runs.csv

$(OUT)/$(FIGURE)/specimen-%.done: $(OUT)/sizes.txt $(call input,$(SPECIMEN_STUDY)) $(call settings,specimen) | $(OUT)/$(FIGURE)
	$(call solve,specimen-$(FIGURE)-$*,$(basename $@),$(specimen_from),$(SPECIMEN_RANKS)) $(specimen_study) \
	  $$(sed 's/^/--set=/' $<) $(call options,--set=,$(TEST_SPECIMEN_SET) $(SPECIMEN_SET) $(call settles_$(FIGURE),$*))
	@touch $@

.PRECIOUS: $(OUT)/$(FIGURE)/specimen-%.done

# The value is the folder's name after the figure's.
$(OUT)/$(FIGURE)/%.done: $(settled).done $(call input,$(STUDY)) $(call settings,solve) | $(OUT)/$(FIGURE)
	$(call solve,$(FIGURE)-$*,$(OUT)/$(FIGURE)/$*,$< $(call quote,$(STUDY))) $(call quote,$(STUDY)) \
	  --catalog=$(OUT)/catalog.tals --set=release.run=$(call quote,$(abspath $(basename $<))) \
	  --set=$$(head -1 $(OUT)/sizes.txt) $(test_keys) $(call options,--set=,$(call keys,$*))
	@touch $@

$(OUT)/$(FIGURE):
	mkdir -p $@

# Which curves the measures are of: another list of VALUES is another figure.
$(OUT)/$(FIGURE)/values.txt: FORCE | $(OUT)/$(FIGURE)
	@echo '$(VALUES)' | cmp -s - $@ || echo '$(VALUES)' >$@

$(OUT)/$(FIGURE)/measures.done: $(OUT)/run.done $(OUT)/$(FIGURE)/values.txt $(runs:%=%.done) \
  $(call settings,measure)
	$(call stage,$(FIGURE)-measures) $(call tool,talus-measure) $(OUT)/run \
	  -o $(OUT)/$(FIGURE)/measures --overwrite --triaxial --plot $(runs:%=--with=%) \
	  $(if $(label_$(FIGURE)),--label='$(label_study)' $(VALUES:%=--label='$(label_$(FIGURE)) %')) \
	  $(call options,,$(MEASURE_FLAGS))
	@touch $@
