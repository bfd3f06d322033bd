"""The version of this module, which is that of the Talus it reads the files of."""

__version__ = "0.1.0"
