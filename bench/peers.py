"""Times damo and its peers in turn, in one run, and prints medians and ratios.

Needs a Python with pytensor (and, where there, jax); `make bench` makes one under build/peers. Run from the project's
root with LUA_PATH and LUA_CPATH set (`make bench` does)."""

import atexit
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Compile times are those of a first compilation: the peers' caches start empty.
cache = tempfile.mkdtemp()
atexit.register(shutil.rmtree, cache, ignore_errors=True)
os.environ["PYTENSOR_FLAGS"] = f"base_compiledir={cache}/pytensor"
os.environ["NUMBA_CACHE_DIR"] = f"{cache}/numba"
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

ROUNDS = 7


class Damo:
    """bench/cases.lua as a server: sends a case, receives seconds."""

    def __init__(self):
        self.process = subprocess.Popen(["lua5.4", "bench/cases.lua"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def time(self, case, n):
        self.process.stdin.write(f"{case} {n}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline()) / n


def timed(run, n):
    start = time.perf_counter()
    for _ in range(n):
        run()
    return (time.perf_counter() - start) / n


def network_data(batch):
    rng = np.random.default_rng(7)
    shapes = [(64, 64), (64,), (64, 10), (10,)]
    params = [rng.normal(0, 0.1, s) if len(s) == 2 else np.zeros(s) for s in shapes]
    return params, rng.uniform(0, 1, (batch, 64)), np.arange(batch) % 10


class PyTensor:
    name = "pytensor"

    def __init__(self):
        import pytensor
        import pytensor.tensor as pt

        self.pytensor, self.pt = pytensor, pt

    def call(self):
        x = self.pt.dscalar("x")
        f = self.pytensor.function([x], x * x + 1)
        f(3.0)
        return lambda: f(3.0)

    def network(self):
        pt, pytensor = self.pt, self.pytensor
        values, xs, ys = network_data(64)
        x, y = pt.dmatrix("x"), pt.lvector("y")
        w1, b1, w2, b2 = params = [pytensor.shared(v) for v in values]
        hidden = pt.maximum(pt.dot(x, w1) + b1, 0)
        logits = pt.dot(hidden, w2) + b2
        onehot = pt.eq(pt.arange(10)[None, :], y[:, None])
        loss = -pt.mean(pt.sum(onehot * pt.special.log_softmax(logits, axis=1), axis=1))
        grads = pytensor.grad(loss, params)
        step = pytensor.function([x, y], loss, updates=[(p, p - 0.1 * g) for p, g in zip(params, grads)])
        step(xs, ys)
        return lambda: step(xs, ys)

    def elemwise(self):
        pt = self.pt
        x = pt.dvector("x")
        f = self.pytensor.function([x], pt.exp(-x * x) * pt.tanh(x) + 1)
        xs = np.linspace(-2, 2, 1000000)
        f(xs)
        return lambda: f(xs)


class Jax:
    name = "jax"

    def __init__(self):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jnp

    def call(self):
        f = self.jax.jit(lambda x: x * x + 1)
        f(3.0).block_until_ready()
        return lambda: float(f(3.0))

    def network(self):
        jax, jnp = self.jax, self.jnp
        params, xs, ys = network_data(64)

        def loss(p, x, y):
            hidden = jnp.maximum(x @ p[0] + p[1], 0)
            logits = hidden @ p[2] + p[3]
            return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * jax.nn.log_softmax(logits), axis=1))

        @jax.jit
        def step(p, x, y):
            value, grads = jax.value_and_grad(loss)(p, x, y)
            return value, [a - 0.1 * g for a, g in zip(p, grads)]

        state = [step([jnp.asarray(p) for p in params], xs, ys)[1]]

        def run():
            value, state[0] = step(state[0], xs, ys)
            return float(value)

        run()
        return run

    def elemwise(self):
        jnp = self.jnp
        f = self.jax.jit(lambda x: jnp.exp(-x * x) * jnp.tanh(x) + 1)
        xs = jnp.linspace(-2, 2, 1000000)
        f(xs).block_until_ready()
        return lambda: f(xs).block_until_ready()


def peers():
    for make in (PyTensor, Jax):
        try:
            yield make()
        except ImportError:
            print(f"peers: {make.name} is not installed, left out", file=sys.stderr)


def compare(damo, peer, case, run, n_damo, n_peer, what):
    ours, theirs, ratios = [], [], []
    for _ in range(ROUNDS):
        ours.append(damo.time(case, n_damo))
        theirs.append(timed(run, n_peer))
        ratios.append(ours[-1] / theirs[-1])
    report(what, peer, statistics.median(ours), statistics.median(theirs), statistics.median(ratios))


def report(what, peer, ours, theirs, ratio):
    print(f"{what:44} damo {ours * 1e6:12.3f} us  {peer:9} {theirs * 1e6:14.3f} us  ratio {ratio:.5f}", flush=True)


def main():
    damo = Damo()
    for peer in peers():
        compare(damo, peer.name, "call", peer.call(), 200000, 20000, "call f(x) = x*x + 1")
        start = time.perf_counter()
        step = peer.network()
        compiled = time.perf_counter() - start
        ours = statistics.median(damo.time("compile", 1) for _ in range(ROUNDS))
        report("digits network: build to first call", peer.name, ours, compiled, ours / compiled)
        compare(damo, peer.name, "step", step, 200, 200, "digits network: training step")
        compare(damo, peer.name, "elemwise", peer.elemwise(), 5, 5, "exp(-x*x)*tanh(x) + 1, 1e6 entries")


if __name__ == "__main__":
    main()
