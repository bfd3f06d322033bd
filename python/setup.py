"""What pyproject.toml cannot say: which of the modules that Talus needs are not here yet.

pip does not recognise Debian's h5py, which is registered under another name, and would download
a second one.
"""

from build_backend import missing
from setuptools import setup

setup(install_requires=missing("numpy", "h5py"))
