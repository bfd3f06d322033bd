"""Decompress Zstandard frames: by the module zstandard if it is there, else by libzstd itself."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections.abc import Callable

from .errors import TalusError


def _by_module() -> Callable[[bytes, int], bytes]:
    import zstandard

    def decompress(data: bytes, size: int) -> bytes:
        try:
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    return decompress


def _by_library() -> Callable[[bytes, int], bytes]:
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]

    def decompress(data: bytes, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        done = library.ZSTD_decompress(buffer, size, data, len(data))
        if library.ZSTD_isError(done):
            raise ValueError("not a Zstandard frame, or a damaged one")
        return buffer.raw[:done]

    return decompress


@functools.cache
def _decompressor() -> Callable[[bytes, int], bytes]:
    try:
        return _by_module()
    except ImportError:
        pass
    try:
        return _by_library()
    except OSError as error:
        raise TalusError(
            f"grids in a catalog are compressed with Zstandard, and its library is not here "
            f"({error}); install the Python module zstandard (Debian: python3-zstandard)"
        ) from error


def decompress(data: bytes, size: int) -> bytes:
    """The bytes of one frame, at most size of them; ValueError if that cannot be."""
    return _decompressor()(data, size)
