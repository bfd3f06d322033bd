# The Debian packages Talus needs, each with a file or command that shows what it provides.
# package:probe, where probe is a path (globs allowed), or a command name.
DEPS := \
  gcc:gcc g++:g++ make:make git:git pkg-config:pkg-config ca-certificates:/etc/ssl/certs/ca-certificates.crt \
  libinsighttoolkit5-dev:/usr/include/ITK-5.2/itkImage.h \
  libtiff-dev:/usr/include/*/tiffio.h \
  libfftw3-dev:/usr/include/fftw3.h \
  libopenmpi-dev:/usr/lib/*/openmpi/include/mpi.h \
  openmpi-bin:mpirun \
  libhdf5-dev:/usr/include/hdf5/serial/hdf5.h \
  libsqlite3-dev:/usr/include/sqlite3.h \
  sqlite3:sqlite3 \
  libyaml-dev:/usr/include/yaml.h \
  libgdal-dev:/usr/include/gdal/gdal.h \
  libpng-dev:/usr/include/png.h \
  libjpeg62-turbo-dev:/usr/include/jpeglib.h \
  zlib1g-dev:/usr/include/zlib.h \
  libzstd-dev:/usr/include/zstd.h \
  libssl-dev:/usr/include/openssl/evp.h \
  liblapacke-dev:/usr/include/lapacke.h \
  libopenblas-dev:/usr/include/*/openblas*/openblas_config.h \
  libqhull-dev:/usr/include/libqhull_r/libqhull_r.h \
  check:/usr/include/check.h \
  gnuplot-nox:gnuplot time:/usr/bin/time \
  python3:/usr/bin/python3 python3-numpy:/usr/lib/python3/dist-packages/numpy \
  python3-pip:/usr/lib/python3/dist-packages/pip python3-h5py:/usr/lib/python3/dist-packages/h5py \
  python3-gdal:/usr/lib/python3/dist-packages/osgeo \
  python3-openvdb:/usr/lib/python3/dist-packages/pyopenvdb*.so \
  clang-format:clang-format \
  shellcheck:shellcheck

deps_package = $(firstword $(subst :, ,$(1)))
deps_probe = $(word 2,$(subst :, ,$(1)))
deps_there = $(if $(filter /%,$(call deps_probe,$(1))),$(wildcard $(call deps_probe,$(1))),$(shell command -v $(call deps_probe,$(1))))
DEPS_MISSING := $(strip $(foreach d,$(DEPS),$(if $(call deps_there,$(d)),,$(call deps_package,$(d)))))
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

deps: ## install the Debian packages that are missing
ifeq ($(DEPS_MISSING),)
	@:
else
	@echo "installing: $(DEPS_MISSING)"
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(DEPS_MISSING)
endif

# make check-fuzz alone needs these.
FUZZ_DEPS := clang:clang libomp-dev:/usr/lib/llvm-14/lib/clang/14*/include/omp.h \
  libclang-rt-14-dev:/usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.fuzzer-*.a
FUZZ_DEPS_MISSING := $(strip $(foreach d,$(FUZZ_DEPS),$(if $(call deps_there,$(d)),,$(call deps_package,$(d)))))
deps-fuzz:
ifeq ($(FUZZ_DEPS_MISSING),)
	@:
else
	@echo "installing: $(FUZZ_DEPS_MISSING)"
	$(SUDO) apt-get update
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(FUZZ_DEPS_MISSING)
endif
