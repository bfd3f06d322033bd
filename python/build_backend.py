"""Let `pip install` use what is installed, so that it needs no network.

pip builds in an environment of its own, which hides the installed packages, and downloads the
build requirements into it. This backend looks for setuptools beside the interpreter first and
asks pip to download it only if it is not there.
"""

import importlib.util
import site
import sys

sys.path += [folder for folder in site.getsitepackages() if folder not in sys.path]


def missing(*names):
    return [name for name in names if importlib.util.find_spec(name) is None]


def get_requires_for_build_wheel(config_settings=None):
    return missing("setuptools", "wheel")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    from setuptools import build_meta

    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
