"""Times the steps and products of bench/networks.lua in damo, in C (networks_floor.c), in JAX, Numba and CasADi, in turn,
in one run, and prints medians and ratios.

Needs a Python with NumPy, and of jax, numba and casadi what is to be compared. Run from the project's root with LUA_PATH
and LUA_CPATH set, the C module's folder too (`make bench` does).
"""

import against
import numpy as np
from against import draw

TITLES = {
    "logistic": "logistic regression step, 400 x 784",
    "mlp_f64": "MLP step, 64 x 784-500-10, float64",
    "mlp_f32": "MLP step, 64 x 784-500-10, float32",
    "products": "20 times z = tanh(z A), 8 x 8",
    "products_gradient": "20 times z = tanh(z A) with gradient in both",
}
CONVOLUTIONS = {
    "conv2d": "conv2d 32 x 16 x 28 x 28, 32 filters 3 x 3, float32",
    "conv2d_gradients": "gradients of conv2d in both operands",
}
RATE = 1e-12  # as in networks.lua
SMALL = [draw(1, 8, 8), draw(0.4, 8, 8)]
IMAGES = [draw(1, 32, 16, 28, 28).astype("float32"), draw(1, 32, 16, 3, 3).astype("float32")]
RESULT = draw(1, 32, 32, 26, 26).astype("float32")


class Jax(against.Jax):
    def step(self, cost, params, x, y):
        def step(params, x, y):
            loss, slopes = self.jax.value_and_grad(cost)(params, x, y)
            return loss, [p - RATE * g for p, g in zip(params, slopes)]

        step = self.jax.jit(step, donate_argnums=0)
        state = [[self.jnp.asarray(p) for p in params]]
        x, y = self.jnp.asarray(x), self.jnp.asarray(y)

        def run():
            loss, state[0] = step(state[0], x, y)
            self.jax.block_until_ready(state[0])

        return run

    def logistic(self):
        def cost(params, x, y):
            w, b = params
            s = x @ w + b
            entropy = self.jax.nn.softplus(s) - s * y
            return self.jnp.mean(entropy) + 0.01 * self.jnp.sum(w**2)

        return self.step(cost, [draw(0.05, 784), np.float64(0)], draw(1, 400, 784), (draw(1, 400) > 0) * 1.0)

    def mlp(self, dtype):
        def cost(params, x, y):
            w1, b1, w2, b2 = params
            scores = self.jax.nn.log_softmax(self.jnp.tanh(x @ w1 + b1) @ w2 + b2)
            return -self.jnp.mean(self.jnp.take_along_axis(scores, y[:, None], 1))

        params = [draw(0.05, 784, 500), np.zeros(500), draw(0.05, 500, 10), np.zeros(10)]
        params = [p.astype(dtype) for p in params]
        return self.step(cost, params, draw(1, 64, 784).astype(dtype), np.arange(64) * 7 % 10)

    def mlp_f64(self):
        return self.mlp("float64")

    def mlp_f32(self):
        return self.mlp("float32")

    def small(self, z, a):
        for _ in range(20):
            z = self.jnp.tanh(z @ a)
        return self.jnp.sum(z)

    def products(self):
        return self.ready(self.small, *SMALL)

    def products_gradient(self):
        return self.ready(self.jax.value_and_grad(self.small, (0, 1)), *SMALL)


    def convolved(self, x, w):
        return self.jax.lax.conv_general_dilated(x, w, (1, 1), "VALID")

    def conv2d(self):
        return self.ready(self.convolved, *IMAGES)

    def conv2d_gradients(self):
        return self.ready(lambda x, w, g: self.jax.vjp(self.convolved, x, w)[1](g), *IMAGES, RESULT)


class Numba(against.Numba):
    def products(self):
        @self.jit
        def run(z, a):
            for _ in range(20):
                z = np.tanh(z @ a)
            return z.sum()

        return lambda: run(*SMALL)

    def products_gradient(self):
        @self.jit
        def run(z, a):
            kept = np.empty((21, 8, 8))
            kept[0] = z
            for t in range(20):
                kept[t + 1] = np.tanh(kept[t] @ a)
            slope, total = np.ones((8, 8)), np.zeros((8, 8))
            for t in range(20, 0, -1):
                d = slope * (1 - kept[t] ** 2)
                total += kept[t - 1].T @ d
                slope = d @ a.T
            return kept[20].sum(), slope, total

        return lambda: run(*SMALL)


class CasADi:
    name = "casadi"

    def __init__(self):
        import casadi

        self.casadi = casadi

    def small(self, gradient):
        ca = self.casadi
        z, a = ca.MX.sym("z", 8, 8), ca.MX.sym("a", 8, 8)
        last = z
        for _ in range(20):
            last = ca.tanh(ca.mtimes(last, a))
        total = ca.sum1(ca.sum2(last))
        outputs = [total] + ([ca.gradient(total, z), ca.gradient(total, a)] if gradient else [])
        function = ca.Function("f", [z, a], outputs)
        # Memory that is there is passed once: a call by values would mostly convert them.
        buffers, run = function.buffer()
        keep = [v.ravel(order="F") for v in SMALL] + [np.zeros(o.numel()) for o in outputs]
        for i in range(2):
            buffers.set_arg(i, memoryview(keep[i]))
        for i in range(len(outputs)):
            buffers.set_res(i, memoryview(keep[2 + i]))
        return lambda keep=(keep, function, buffers): run()

    def products(self):
        return self.small(False)

    def products_gradient(self):
        return self.small(True)


if __name__ == "__main__":
    against.compare("bench/networks.lua", TITLES | CONVOLUTIONS, set(TITLES), [Jax, Numba, CasADi])
