"""Files of llama2.c: version 2 (int8 in groups with float32 scales) and version 0 (float32)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from attention import Array
from model import Config, Parameters, shapes

MAGIC = 0x616B3432  # "ak42"
HEADER_BYTES = 256
GROUP = 64
NORMS = ("rms_attention", "rms_ffn", "rms_final")
QUANTIZED = ("embedding", "wq", "wk", "wv", "wo", "w1", "w2", "w3")
FLOATS = ("embedding", "rms_attention", "wq", "wk", "wv", "wo", "rms_ffn", "w1", "w2", "w3", "rms_final")


def quantize(matrix: Array, group: int) -> tuple[Array, Array]:
    """Q8_0: scale = max |w| / 127 of each group of consecutive values, w ~ scale * round(w / scale)."""
    if matrix.size % group:
        raise ValueError(f"a matrix of {matrix.size} values has no whole number of groups of {group}")
    groups = matrix.astype(np.float32).reshape(-1, group)
    scales = np.abs(groups).max(axis=1) / np.float32(127)
    divisors = np.where(scales > 0, scales, np.float32(1))  # a group of zeros stays zero
    return np.rint(groups / divisors[:, None]).astype(np.int8), scales


def config_numbers(config: Config) -> tuple[int, ...]:
    """In the order of both headers; a positive vocabulary says that the embedding is the output matrix."""
    return (
        config.dim,
        config.hidden,
        config.layers,
        config.heads,
        config.kv_heads,
        config.vocabulary,
        config.context,
    )


def write_quantized(path: Path, config: Config, parameters: Parameters) -> None:
    """Version 2: header, norms in float32, then every matrix as its int8 values and its scales."""
    header = struct.pack("<Ii7iBi", MAGIC, 2, *config_numbers(config), 1, GROUP)
    with path.open("wb") as file:
        file.write(header.ljust(HEADER_BYTES, b"\0"))
        for name in NORMS:
            file.write(parameters[name].astype("<f4").tobytes())
        for name in QUANTIZED:
            for matrix in as_matrices(parameters[name]):
                values, scales = quantize(matrix, GROUP)
                file.write(values.tobytes() + scales.astype("<f4").tobytes())


def write_floats(path: Path, config: Config, parameters: Parameters) -> None:
    """Version 0: seven integers, then float32; the rotation tables at its end are unused and zero."""
    with path.open("wb") as file:
        file.write(struct.pack("<7i", *config_numbers(config)))
        for name in FLOATS:
            file.write(parameters[name].astype("<f4").tobytes())
        file.write(bytes(4 * rotation_values(config)))


def read(path: Path) -> tuple[Config, Parameters]:
    """Either version, as float32."""
    with path.open("rb") as file:
        magic = struct.unpack("<I", file.read(4))[0]
        file.seek(0)
        contents = read_quantized(file) if magic == MAGIC else read_floats(file)
        if file.read(1):
            raise ValueError(f"{path} goes on after the last matrix; it is not a llama2.c file of version 0 or 2")
    return contents


def read_quantized(file: BinaryIO) -> tuple[Config, Parameters]:
    _, version, *numbers, tied, group = struct.unpack("<Ii7iBi", file.read(41))
    if version != 2 or tied != 1:
        raise ValueError(f"version {version}, tied {tied}; supported are version 2 with a tied embedding and version 0")
    file.seek(HEADER_BYTES)
    config = Config(*numbers)
    expected = shapes(config)
    parameters = {name: read_array(file, "<f4", expected[name]) for name in NORMS}
    for name in QUANTIZED:
        parameters[name] = np.empty(expected[name], np.float32)
        for matrix in as_matrices(parameters[name]):
            values = read_array(file, "i1", (matrix.size // group, group))
            scales = read_array(file, "<f4", (matrix.size // group, 1))
            matrix[...] = (values * scales).reshape(matrix.shape)
    return config, parameters


def read_floats(file: BinaryIO) -> tuple[Config, Parameters]:
    config = Config(*struct.unpack("<7i", file.read(28)))
    if config.vocabulary <= 0:
        raise ValueError("the output matrix is not the embedding; only tied embeddings are supported")
    expected = shapes(config)
    parameters = {name: read_array(file, "<f4", expected[name]) for name in FLOATS}
    file.seek(4 * rotation_values(config), 1)
    return config, parameters


def rotation_values(config: Config) -> int:
    """Cosine and sine of each position and pair."""
    return config.context * (config.dim // config.heads)


def as_matrices(array: Array) -> Array:
    """[layers][out][in]; the embedding counts as one layer."""
    return array if array.ndim == 3 else array[None]


def read_array(file: BinaryIO, kind: str, shape: tuple[int, ...]) -> Array:
    wanted = int(np.prod(shape)) * np.dtype(kind).itemsize
    content = file.read(wanted)
    if len(content) != wanted:
        raise ValueError(f"the file ends {wanted - len(content)} bytes early")
    return np.frombuffer(content, kind).reshape(shape).copy()
