# Made the .npz files here, and expected.lua: what SciPy's tocsr() (tocsc() of a csc) makes of each.
# Run with SciPy 1.17.1 and NumPy 2.4.6: python make.py
import textwrap

import numpy as np
from scipy import sparse as sp

nan = np.nan


def blocks(dtype):
    data = np.array([[[1, 0, 2], [3, 4, 0]], [[5, 6, 7], [0, 0, 8]], [[9, 1, 1], [2, 0, 0]], [[1, 1, 1], [1, 1, 1]]])
    # unsorted, and the last two blocks at one place
    return (data.astype(dtype), np.array([1, 0, 1, 1]), np.array([0, 2, 2, 4]))


def bands(dtype, width):
    data = np.arange(1, 4 * width + 1).reshape(4, width).astype(dtype)
    data[1, 2] = 0
    return (data, np.array([2, -1, 0, -7]))


def places(dtype):
    data = np.array([1, 2, 3, 0, 5, 6, -6]).astype(dtype)
    return (data, (np.array([2, 0, 2, 1, 0, 3, 3]), np.array([1, 3, 1, 0, 0, 2, 2])))


float_bands = bands("float32", 6)
float_bands[0][2] = [nan, 0, -0.0, 2.5, 7, 7]
files = {
    "coo_array_float64": sp.coo_array(places("float64"), shape=(5, 4)),
    "coo_matrix_complex64": sp.coo_matrix((places("complex64")[0] * (1 - 2j), places("int8")[1]), shape=(5, 4)),
    "coo_array_bool": sp.coo_array(places("bool"), shape=(5, 4)),
    "coo_array_empty": sp.coo_array((2, 3), dtype="uint16"),
    "dia_array_float32": sp.dia_array(float_bands, shape=(5, 4)),
    "dia_matrix_int64": sp.dia_matrix(bands("int64", 3), shape=(4, 7)),
    "dia_array_no_columns": sp.dia_array(bands("int64", 3), shape=(4, 0)),
    "bsr_array_int16": sp.bsr_array(blocks("int16"), shape=(6, 6)),
    "bsr_matrix_complex128": sp.bsr_matrix((blocks("complex128")[0] * 1j, *blocks("int8")[1:]), shape=(6, 9)),
    "csr_array_uint8": sp.csr_array(sp.coo_array(places("uint8"), shape=(5, 4))),
    "csc_matrix_float64": sp.csc_matrix(sp.coo_matrix(places("float64"), shape=(5, 4))),
}


def number(v):
    return "0/0" if v != v else repr(v)


def values(a):
    text = ", ".join(number(v) for v in a.tolist())
    return textwrap.fill("{ " + text + " }" if text else "{}", 100, subsequent_indent=" " * 6)


with open("expected.lua", "w") as out:
    out.write("-- Written by make.py.\nreturn {\n")
    for i, (name, a) in enumerate(files.items()):
        # both ways to write: np.savez and np.savez_compressed
        sp.save_npz(name + ".npz", a, compressed=i % 2 == 0)
        m = a if a.format == "csc" else a.tocsr()
        data = m.data.astype("uint8") if m.dtype == bool else m.data
        out.write(f'  {name} = {{\n    format = "{m.format}",\n    dtype = "{m.dtype}",\n')
        out.write(f"    shape = {values(np.array(m.shape))},\n    re = {values(data.real)},\n")
        if m.dtype.kind == "c":
            out.write(f"    im = {values(data.imag)},\n")
        out.write(f"    indices = {values(m.indices)},\n    indptr = {values(m.indptr)},\n  }},\n")
    out.write("}\n")
