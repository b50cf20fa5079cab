"""Times the cases of bench/library.lua in damo, in NumPy and SciPy, and in JAX, in turn, in one run, and prints medians and
ratios. LAPACK is called through SciPy's low-level functions, without checks and copies beyond its own.

Needs a Python with NumPy, and of scipy and jax what is to be compared. Run from the project's root with LUA_PATH and
LUA_CPATH set (`make bench` does).
"""

import against
import numpy as np
from against import draw

TITLES = {
    "cholesky": "cholesky 500 x 500",
    "cholesky_gradient": "cholesky 500 x 500, gradient",
    "solve": "solve 500 x 500, one right side",
    "svd": "svd 500 x 500",
    "svd_gradient": "svd 500 x 500, gradient",
    "eigh": "eigh 500 x 500",
    "eigh_gradient": "eigh 500 x 500, gradient",
    "systems": "86268 systems 3 x 3 with gradient",
    "rfft": "rfft of 2^16",
    "rfft_rows": "rfft of 1000 rows of 1000",
    "rfft2": "rfft2 of 1000 x 1000",
    "segment_sum": "segment_sum of 1e6, 1000 segments",
    "normal": "1e6 normal draws",
    "gamma": "1e6 gamma draws, shape 2",
    "einsum": "einsum of three operands",
}
A = draw(1, 500, 500)
SPD = A @ A.T + 500 * np.eye(500)
SYMMETRIC = A + A.T
RIGHT = np.random.default_rng(4).normal(size=500)
SYSTEMS = draw(1, 86268, 3, 3) + 3 * np.eye(3), draw(1, 86268, 3)
LINE, PLANE = draw(1, 65536), draw(1, 1000, 1000)
VALUES, IDS = draw(1, 1000000), np.random.default_rng(5).integers(0, 1000, 1000000)
OPERANDS = draw(1, 50, 60, 70), draw(1, 70, 80), draw(1, 80, 30)


class SciPy:
    name = "scipy"

    def __init__(self):
        import scipy.fft
        import scipy.linalg.lapack as lapack

        self.lapack, self.fft = lapack, scipy.fft
        self.random = np.random.default_rng(7)

    def cholesky(self):
        return lambda: self.lapack.dpotrf(SPD, lower=1, clean=1)

    def solve(self):
        return lambda: self.lapack.dgesv(SPD, RIGHT)

    def svd(self):
        return lambda: self.lapack.dgesdd(A, full_matrices=0)

    def eigh(self):
        return lambda: self.lapack.dsyevd(SYMMETRIC, lower=1)

    def rfft(self):
        return lambda: self.fft.rfft(LINE)

    def rfft_rows(self):
        return lambda: self.fft.rfft(PLANE)

    def rfft2(self):
        return lambda: self.fft.rfft2(PLANE)

    def segment_sum(self):
        return lambda: np.bincount(IDS, VALUES, 1000)

    def normal(self):
        return lambda: self.random.normal(0, 1, 1000000)

    def gamma(self):
        return lambda: self.random.gamma(2, 1, 1000000)

    def einsum(self):
        return lambda: np.einsum("ijk,kl,lm->ijm", *OPERANDS, optimize=True)


class Jax(against.Jax):
    def gradient(self, f, *args):
        def cost(*args):
            return sum(self.jnp.sum(self.jnp.sin(y)) for y in self.jax.tree_util.tree_leaves(f(*args)))

        return self.ready(self.jax.grad(cost), *args)

    def cholesky_gradient(self):
        return self.gradient(self.jnp.linalg.cholesky, SPD)

    def svd_gradient(self):
        return self.gradient(lambda a: self.jnp.linalg.svd(a, full_matrices=False), A)

    def eigh_gradient(self):
        return self.gradient(self.jnp.linalg.eigh, SYMMETRIC)

    def systems(self):
        def cost(a, b):
            return self.jnp.sum(self.jnp.sin(self.jnp.linalg.solve(a, b[..., None])))

        return self.ready(self.jax.value_and_grad(cost, (0, 1)), *SYSTEMS)

    def segment_sum(self):
        return self.ready(lambda x, ids: self.jax.ops.segment_sum(x, ids, 1000), VALUES, IDS)


if __name__ == "__main__":
    against.compare("bench/library.lua", TITLES, set(), [SciPy, Jax])
