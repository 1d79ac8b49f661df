"""Write a model's weights again with fewer bits: the same model, worse, with nothing else changed.

    python scripts/requantise.py model-q4_k_m.gguf model-q2_k.gguf

Which matrix gets how many bits follows llama.cpp's Q2_K: two bits for most, three where errors hurt most, and the
output matrix stays as it is. The arithmetic is ggml's own, out of the xllamacpp package; gguf reads and writes the
files. Exit codes: 0 good, 3 input unreadable or packages missing.
"""

import argparse
import ctypes
import sys
from pathlib import Path
from typing import Any

ROWS = 8192
"""Rows taken at a time: the widest matrix then needs a few hundred megabytes."""
KEPT = ("output.weight",)
THREE_BITS = ("ffn_down.weight", "attn_output.weight", "attn_v.weight")
FILE_TYPE = "general.file_type"


def requantise(source: Path, target: Path) -> None:
    """Writes `source` with fewer bits to `target`; the same bytes each time."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    copy_facts(reader, writer)
    quantise = quantiser()
    for tensor in reader.tensors:
        kind = kind_of(tensor)
        writer.add_tensor(tensor.name, quantised(tensor, kind, quantise), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def copy_facts(reader: Any, writer: Any) -> None:
    """Everything the file says about the model, but for how it was quantised."""
    import gguf

    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        value = int(gguf.LlamaFileType.MOSTLY_Q2_K) if name == FILE_TYPE else field.contents()
        inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, value, field.types[0], sub_type=inner)


def kind_of(tensor: Any) -> Any:
    """The type a tensor gets; vectors and the output matrix keep theirs."""
    from gguf import GGMLQuantizationType as Kind

    if tensor.tensor_type == Kind.F32 or tensor.name in KEPT:
        return tensor.tensor_type
    return Kind.Q3_K if tensor.name.endswith(THREE_BITS) else Kind.Q2_K


def quantised(tensor: Any, kind: Any, quantise: Any) -> Any:
    """The tensor's data as the given type."""
    import gguf
    import numpy as np

    if kind == tensor.tensor_type:
        return tensor.data
    width, height = (int(size) for size in tensor.shape)
    packed = np.zeros(gguf.quant_shape_to_byte_shape((height, width), kind), dtype=np.uint8)
    for start in range(0, height, ROWS):
        rows = np.ascontiguousarray(gguf.dequantize(tensor.data[start : start + ROWS], tensor.tensor_type))
        into = packed[start : start + ROWS]
        quantise(kind.value, rows.ctypes.data, into.ctypes.data, 0, len(rows), width, None)
    return packed


def quantiser() -> Any:
    """ggml_quantize_chunk(type, from, to, start, rows, columns of a row, importance)."""
    import xllamacpp.xllamacpp as built

    function = ctypes.CDLL(built.__file__).ggml_quantize_chunk
    whole, place = ctypes.c_int64, ctypes.c_void_p
    function.argtypes = [ctypes.c_int, place, place, whole, whole, whole, place]
    function.restype = ctypes.c_size_t
    return function


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="weights as GGUF")
    parser.add_argument("target", type=Path, help="where the smaller weights go")
    asked = parser.parse_args()
    try:
        requantise(asked.source, asked.target)
    except (OSError, ValueError, ImportError) as error:
        print(
            f"requantise: {asked.source}: {error}; needs a GGUF file and: pip install gguf xllamacpp", file=sys.stderr
        )
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
