"""Talus for Spack. In a repository of your own:

    spack repo create talus-repo
    mkdir talus-repo/packages/talus && cp package.py talus-repo/packages/talus
    spack repo add talus-repo
    spack dev-build --source-path=/path/to/talus talus@main

The recipe hands the makefile the flags that it asks Debian's pkg-config for otherwise.
"""

from spack.package import *


class Talus(MakefilePackage):
    """From X-ray CT scans of sand and rock to level-set DEM simulations of the grains."""

    # The address that you have Talus from; not wanted by `spack dev-build`.
    git = "file:///path/to/talus"

    version("main", branch="main")

    variant("python", default=True, description="Module that reads results and runs studies")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openmpi")
    depends_on("itk@5.2:5")
    depends_on("libtiff")
    depends_on("fftw@3: precision=float,double")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("sqlite")
    depends_on("libyaml")
    depends_on("gdal")
    depends_on("libpng")
    depends_on("libjpeg-turbo")
    depends_on("zlib")
    depends_on("zstd")
    depends_on("openssl")
    depends_on("openblas")
    depends_on("qhull@2020.2:")
    depends_on("gnuplot", type="run")
    depends_on("python@3.11:", type=("build", "run"))
    with when("+python"):
        depends_on("py-numpy", type="run")
        depends_on("py-h5py ~mpi", type="run")

    modules = (
        "hdf5 libtiff-4 fftw3 fftw3f sqlite3 yaml-0.1 gdal libpng libzstd libcrypto ompi-c openblas qhull_r libjpeg zlib"
    ).split()

    @property
    def build_targets(self):
        return ["all", *self.flags()]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}", *self.flags()]

    def flags(self):
        """What the makefile would find on Debian by itself."""
        ask = which("pkg-config")
        itk = self.spec["itk"]
        number = str(itk.version.up_to(2))
        includes = ask("--cflags", *self.modules, output=str).replace("-I", "-isystem ").strip()
        libraries = ask("--libs", *self.modules, output=str).strip()
        return [
            f"PKG_CFLAGS={includes}",
            f"PKG_LIBS=-L{itk.prefix.lib} -Wl,-rpath,{itk.prefix.lib} {libraries}",
            f"ITK={number}",
            f"ITK_CFLAGS=-isystem {itk.prefix.include}/ITK-{number}",
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "python3", "dist-packages"))
