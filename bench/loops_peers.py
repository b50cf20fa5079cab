"""Times the loops of bench/loops.lua in damo, in C (loops_floor.c), in JAX (lax.scan under jit) and in Numba (the loops
and their derivatives written by hand), in turn, in one run, and prints medians and ratios.

Needs a Python with NumPy, and of jax and numba what is to be compared; `make bench PEERS='jax numba'` makes one under
build/peers. Run from the project's root with LUA_PATH and LUA_CPATH set, the C module's folder too (`make bench` does).
"""

import against
import numpy as np
from against import draw

TITLES = {
    "lorenz": "Lorenz, 1e4 Euler steps",
    "lorenz_gradient": "Lorenz with gradient in three parameters",
    "newton": "Newton's square root by while_loop",
    "rnn": "RNN, 100 steps of 64 units",
    "rnn_gradient": "RNN with gradient in both weights",
    "gru": "GRU, 200 steps of 32 x 128, gradient",
    "lstm": "LSTM, 200 steps of 32 x 128, gradient",
    "runge_kutta": "RK4 of 10 linear equations, 1e4 steps",
    "runge_kutta_gradient": "RK4 with gradient",
}
FLOORS = {"lorenz", "lorenz_gradient", "newton", "rnn", "rnn_gradient", "runge_kutta"}

PARAMETERS = (10.0, 28.0, 8 / 3)
RNN_DATA = [draw(0.1, 100, 64), draw(0.1, 64), draw(0.1, 64, 64), draw(0.1, 64, 64)]
LINEAR_DATA = [draw(1, 10, 10), draw(1, 10)]


class Jax(against.Jax):
    def last(self, step, start, sequence, length=None):
        return self.jax.lax.scan(lambda s, x: (step(s, x), None), start, sequence, length=length)[0]

    def lorenz_final(self, sigma, rho, beta):
        def step(s, _):
            x, y, z = s
            return (x + 0.001 * (sigma * (y - x)), y + 0.001 * (x * (rho - z) - y), z + 0.001 * (x * y - beta * z))

        one = self.jnp.float64(1.0)
        return self.last(step, (one, one, one), None, 10000)

    def lorenz(self):
        return self.ready(self.lorenz_final, *PARAMETERS)

    def lorenz_gradient(self):
        return self.ready(self.jax.value_and_grad(lambda *p: self.lorenz_final(*p)[0], (0, 1, 2)), *PARAMETERS)

    def newton(self):
        def root(a):
            return self.jax.lax.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, a)

        return self.ready(root, 2.0)

    def rnn_cost(self, x, h0, w, u):
        return self.jnp.sum(self.last(lambda h, x_t: self.jnp.tanh(h @ w + x_t @ u), h0, x) ** 2)

    def rnn(self):
        return self.ready(self.rnn_cost, *RNN_DATA)

    def rnn_gradient(self):
        return self.ready(self.jax.value_and_grad(self.rnn_cost, (2, 3)), *RNN_DATA)

    def gated(self, step, gates, states):
        def cost(x, w, u):
            start = tuple(self.jnp.zeros((32, 128)) for _ in range(states))
            return self.jnp.sum(self.last(lambda s, x_t: step(x_t, s, w, u), start, x)[0] ** 2)

        data = draw(0.1, 200, 32, 128), draw(0.1, 128, gates * 128), draw(0.1, 128, gates * 128)
        return self.ready(self.jax.value_and_grad(cost, (1, 2)), *data)

    def gru(self):
        sigmoid, jnp = self.jax.nn.sigmoid, self.jnp

        def step(x, state, w, u):
            h = state[0]
            a, b = jnp.split(x @ w, 3, 1), jnp.split(h @ u, 3, 1)
            update = sigmoid(a[0] + b[0])
            return (update * h + (1 - update) * jnp.tanh(a[2] + sigmoid(a[1] + b[1]) * b[2]),)

        return self.gated(step, 3, 1)

    def lstm(self):
        sigmoid, jnp = self.jax.nn.sigmoid, self.jnp

        def step(x, state, w, u):
            h, c = state
            forget, ingate, change, outgate = jnp.split(x @ w + h @ u, 4, 1)
            c = sigmoid(forget) * c + sigmoid(ingate) * jnp.tanh(change)
            return (sigmoid(outgate) * jnp.tanh(c), c)

        return self.gated(step, 4, 2)

    def linear_cost(self, a, start):
        def step(x, _):
            k1 = a @ x
            k2 = a @ (x + 0.0005 * k1)
            k3 = a @ (x + 0.0005 * k2)
            k4 = a @ (x + 0.001 * k3)
            return x + 0.001 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return self.jnp.sum(self.last(step, start, None, 10000))

    def runge_kutta(self):
        return self.ready(self.linear_cost, *LINEAR_DATA)

    def runge_kutta_gradient(self):
        return self.ready(self.jax.value_and_grad(self.linear_cost), *LINEAR_DATA)


class Numba(against.Numba):
    def lorenz(self):
        @self.jit
        def run(sigma, rho, beta):
            x = y = z = 1.0
            for _ in range(10000):
                dx, dy, dz = sigma * (y - x), x * (rho - z) - y, x * y - beta * z
                x, y, z = x + 0.001 * dx, y + 0.001 * dy, z + 0.001 * dz
            return x, y, z

        return lambda: run(*PARAMETERS)

    def newton(self):
        @self.jit
        def run(a):
            x = a
            while abs(x * x - a) > 1e-12:
                x = (x + a / x) / 2
            return x

        return lambda: run(2.0)

    def rnn(self):
        @self.jit
        def run(x, h, w, u):
            for t in range(x.shape[0]):
                h = np.tanh(h @ w + x[t] @ u)
            return (h * h).sum()

        return lambda: run(*RNN_DATA)

    def rnn_gradient(self):
        @self.jit
        def run(x, h0, w, u):
            n = x.shape[0]
            h, d = np.empty((n + 1, h0.size)), np.empty((n, h0.size))
            h[0] = h0
            for t in range(n):
                h[t + 1] = np.tanh(h[t] @ w + x[t] @ u)
            g = 2 * h[n]
            for t in range(n - 1, -1, -1):
                d[t] = g * (1 - h[t + 1] ** 2)
                g = w @ d[t]
            return (h[n] * h[n]).sum(), h[:n].T @ d, x.T @ d

        return lambda: run(*RNN_DATA)


if __name__ == "__main__":
    against.compare("bench/loops.lua", TITLES, FLOORS, [Jax, Numba])
