# What the pipelines share: where the tools lie, and how text from the command line reaches make and
# the shell. Included by each of them, which has set here (its own folder).
#
# Names of files, of samples and terrains, keys of studies and options of tools are put in quotation
# marks for the shell and never run. What make itself cannot carry is refused before anything runs.
SHELL := /bin/bash
.DELETE_ON_ERROR:

ifeq ($(wildcard $(here)/stage.sh),)
$(error the pipelines lie in a folder whose name holds blanks: call make from there with a path relative to it)
endif
ifneq ($(wildcard $(here)/../build/bin/talus-solve),)
BIN ?= $(here)/../build/bin
endif

empty :=
blank := $(empty) $(empty)
tab := $(empty)	$(empty)
define newline


endef

# $(call quote,TEXT): TEXT as one word of the shell, whatever it holds.
quote = '$(subst ','\'',$(1))'
# $(call options,LEAD,WORDS): LEAD and a word, for each of them.
options = $(foreach w,$(2),$(call quote,$(1)$(w)))
tool = $(call quote,$(if $(BIN),$(BIN)/)$(1))
script = $(call quote,$(here)/$(1))

# ---- what is refused ----
# Texts: anything but an end of line, and $, which make takes for a variable ($$ is one dollar sign).
given = $(filter command% environment%,$(origin $(1)))
lone_dollar = $(findstring $$,$(subst $$$$,,$(value $(1))))
text_fault = $(if $(findstring $(newline),$(value $(1))),an end of line,$(if $(call given,$(1)),$(if \
  $(lone_dollar),a dollar sign (write $$$$ for each))))
check_texts = $(foreach v,$(1),$(if $(call text_fault,$(v)),$(error $(v): holds $(call text_fault,$(v)); make \
  cannot carry it)))
# Names that are parts of targets, and numbers: no blanks, nothing that make or a shell acts on.
marks := ' " ` \ ; & | < > ( ) { } [ ] * ? ! \# % : = ~ $$
has_mark = $(strip $(foreach c,$(marks),$(findstring $(c),$(1))))
has_blank = $(if $(findstring $(blank),$(1))$(findstring $(tab),$(1)),a blank)
word_fault = $(or $(call text_fault,$(1)),$(call has_mark,$($(1))),$(if $(filter -%,$($(1))),a dash in front))
name_fault = $(or $(call word_fault,$(1)),$(call has_blank,$($(1))))
check_words = $(foreach v,$(1),$(if $(call word_fault,$(v)),$(error $(v)='$(value $(v))' holds $(call \
  word_fault,$(v)); give letters, digits and . _ - + / , @ only)))
check_names = $(foreach v,$(1),$(if $(call name_fault,$(v)),$(error $(v)='$(value $(v))' holds $(call \
  name_fault,$(v)); give a path of letters, digits and . _ - + / , @ only)))
# Files that are read: as texts, but for the sign that parts a rule's prerequisites.
check_files = $(check_texts)$(foreach v,$(1),$(if $(findstring |,$($(v))),$(error $(v)='$($(v))': make cannot \
  carry a | in a file's name; rename it or make a link to it)))
# $(call check_kept,NAMES,FILES): none of the files that are read is one that the chain writes.
same_file = $(shell for f in $(2); do [ ! $(call quote,$(1)) -ef $$f ] || echo yes; done)
check_kept = $(foreach v,$(1),$(if $(if $($(v)),$(call same_file,$($(v)),$(2))),$(error $(v)=$($(v)) is \
  what this chain writes into $(OUT), and would be replaced; give another OUT)))

# ---- prerequisites ----
# $(call input,FILE): a file as a prerequisite, or the files that a pattern (s_*.tif, s_%04d.tif) stands for.
escape_one = $(subst $(1),\$(1),$(2))
escape = $(call escape_one,$(blank),$(call escape_one,:,$(call escape_one,;,$(call escape_one,[,$(call \
  escape_one,?,$(call escape_one,*,$(call escape_one,\#,$(1))))))))
is_pattern = $(if $(strip $(findstring *,$(1))$(findstring ?,$(1))$(findstring [,$(1))$(findstring \
  %,$(1))),$(shell [ -e $(call quote,$(1)) ] || echo yes))
input = $(if $(call is_pattern,$(1)),$(wildcard $(1)),$(call escape,$(1)))

# ---- stages ----
OUT ?= $(error OUT= is wanted: the folder for the products)
$(call check_names,OUT)
$(call check_texts,BIN)

# Stage $(1): its program and arguments follow. It makes OUT.
stage = $(call script,stage.sh) $(1) $(OUT)/stages.csv
# Stage $(1), a solver's run into folder $(2) from files $(3), on $(4) ranks (RANKS); its study and
# options follow.
solve = OMP_NUM_THREADS=$(THREADS) $(call stage,$(1)) $(call script,solve.sh) $(2) $(3) -- \
  $(call tool,talus-mpirun) -n $(or $(4),$(RANKS)) $(call tool,talus-solve) --

# ---- settings ----
# Make compares times of files only. What a stage is made with stands in $(call settings,STAGE), which its product depends
# on and which is written anew when it differs: another stack, even an older one, or another voxel size is worked on.
# settings_STAGE are its lines: $(call values,NAMES) of variables, $(call inputs,NAMES) of files that variables name; a
# rule without a recipe names what the file depends on: $(call changed,STAGE), and inputs that a rule may make.
.PHONY: FORCE
settings = $(1:%=$(OUT)/settings/%.txt)
values = $(foreach v,$(1),$(call quote,$(v)=$(strip $($(v)))))
inputs = $(foreach v,$(1),$(if $($(v)),-f $(call quote,$(v)=$($(v))),$(call quote,$(v)=)))
changed = $(if $(shell $(call script,settings.sh) changed $(call settings,$(1)) $(settings_$(1))),FORCE)
$(OUT)/settings/%.txt:
	@$(call script,settings.sh) write $@ $(settings_$*)

# ---- how long ----
# `make -f CHAIN forecast OUT=...` and the settings of the chain: what each stage will take, and what is done already.
.PHONY: forecast
forecast:
	@$(call script,forecast.sh) $(call quote,$(here)) $(OUT) $(MAKE) --no-print-directory -n -f $(call quote,$(firstword $(MAKEFILE_LIST))) \
	  $(.DEFAULT_GOAL)
