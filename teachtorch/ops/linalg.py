"""Matrix products and linear algebra."""
import numpy as np

from .declare import MULTILINEAR, operator, publish
from .fake import Fake, require_tensor


def fake_mm(self, mat2):
    require_tensor(mat2, "mm", "mat2", 2)
    if len(self._shape) != 2 or len(mat2._shape) != 2:
        which = "self" if len(self._shape) != 2 else "mat2"
        raise RuntimeError(f"mm(): {which} must be a matrix, got shapes {list(self._shape)} and {list(mat2._shape)}")
    if self._shape[1] != mat2._shape[0]:
        raise RuntimeError(f"mm(): mat1 and mat2 shapes cannot be multiplied ({self._shape[0]}x{self._shape[1]} and "
                           f"{mat2._shape[0]}x{mat2._shape[1]})")
    if self._dtype is not mat2._dtype:
        raise RuntimeError(f"mm(): expected m1 and m2 to have the same dtype, but got: {self._dtype} != {mat2._dtype}")
    return Fake((self._shape[0], mat2._shape[1]), self._dtype)


@operator("mm", jvp=MULTILINEAR, fake=fake_mm,
          vjp={"self": lambda grad, mat2: grad.mm(mat2.t()), "mat2": lambda grad, self: self.t().mm(grad)})
def mm(self, mat2):
    """The matrix product of an (n, m) and an (m, p) tensor of one dtype."""
    if self.dtype != mat2.dtype or self.ndim != 2 or mat2.ndim != 2:
        raise TypeError("mm() needs two matrices of one dtype")
    return self @ mat2


publish("__matmul__", mm, ("Tensor",))
