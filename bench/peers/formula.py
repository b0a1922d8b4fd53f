"""P(x) of any coefficients, by our own formula. Standard library only."""

import ast
import math
import struct
from array import array


class Matrix:
    """An NPY file in Fortran order, whose columns are read one by one."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            head = file.read(10)
            if head[:7] != b"\x93NUMPY\x01":
                raise ValueError(f"{path} is no NPY file of version 1")
            length = struct.unpack("<H", head[8:10])[0]
            header = ast.literal_eval(file.read(length).decode())
        if header["descr"] != "<f8" or not header["fortran_order"]:
            raise ValueError(f"{path} is no matrix of float64 in Fortran order: {header}")
        self.rows, self.columns = header["shape"]
        self.offset = 10 + length

    def column(self, j):
        values = array("d")
        with open(self.path, "rb") as file:
            file.seek(self.offset + 8 * self.rows * j)
            values.fromfile(file, self.rows)
        return values


def loss(name, z, b, delta):
    if name == "logistic":
        margin = b * z
        return math.log1p(math.exp(-margin)) if margin > 0 else math.log1p(math.exp(margin)) - margin
    r = abs(z - b)
    if name == "huber" and r > delta:
        return delta * (r - delta / 2)
    return r * r / 2


def objective(request, coefficients):
    """Returns the mean of the loss plus ridge/2 |x|^2."""
    matrix = Matrix(request["matrix"])
    z = array("d", bytes(8 * matrix.rows))
    for j, x in coefficients.items():
        for i, a in enumerate(matrix.column(j)):
            z[i] += a * x
    b = matrix.column(matrix.columns - 1)
    name, delta = request["loss"], request.get("huber_delta") or 1.0
    mean = math.fsum(loss(name, z[i], b[i], delta) for i in range(matrix.rows)) / matrix.rows
    return mean + request["ridge"] / 2 * math.fsum(x * x for x in coefficients.values())
