"""Times damo, C and peers in turn, in one run, and prints medians and ratios; for loops_peers.py and networks_peers.py,
which ask a script that reports by against.lua."""

import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

ROUNDS, SECONDS = 7, 0.03


class Damo:
    """A script of bench/ as a server: sends a case, receives seconds."""

    def __init__(self, script):
        lua = os.environ.get("LUA", "lua5.4")
        self.process = subprocess.Popen([lua, script, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def time(self, words, times):
        self.process.stdin.write(f"{words} {times}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline()) / times


def draw(scale, *shape):
    return np.random.default_rng(3).normal(0, scale, shape)


class Jax:
    """What cases in JAX share: 64 bits, compiled, waited for."""

    name = "jax"

    def __init__(self):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jnp

    def ready(self, f, *args):
        args = [self.jnp.asarray(a) for a in args]
        f = self.jax.jit(f)
        return lambda: self.jax.block_until_ready(f(*args))


class Numba:
    name = "numba"

    def __init__(self):
        import numba

        self.jit = numba.njit


def installed(classes):
    for make in classes:
        try:
            yield make()
        except ImportError:
            print(f"peers: {make.name} is not installed, left out", file=sys.stderr)


def python_runs(run):
    """Seconds of CPU time, as damo's scripts and the loops in C count them: all run on one thread."""

    def seconds(_, times):
        start = time.process_time()
        for _ in range(times):
            run()
        return (time.process_time() - start) / times

    return seconds


def compare(script, titles, floors, classes):
    """Times the cases of the script that titles names (those in the arguments, where there are any) in damo, in C where
    floors names them, and in the peers that have a method of that name, which gives a function to time."""
    damo, found, wanted = Damo(script), list(installed(classes)), sys.argv[1:]
    for name, title in titles.items():
        if wanted and name not in wanted:
            continue
        runs = {"damo": (damo.time, name)}
        if name in floors:
            runs["C"] = (damo.time, f"{name} floor")
        for peer in found:
            if hasattr(peer, name):
                run = getattr(peer, name)()
                run()
                runs[peer.name] = (python_runs(run), name)
        for time_of, key in runs.values():
            time_of(key, 1)
        counts = {who: max(1, int(SECONDS / max(time_of(key, 1), 1e-7))) for who, (time_of, key) in runs.items()}
        seconds = {who: [] for who in runs}
        for _ in range(ROUNDS):
            for who, (time_of, key) in runs.items():
                time_of(key, 1)
                seconds[who].append(time_of(key, counts[who]))
        line = f"{title:42} damo {statistics.median(seconds['damo']) * 1e6:11.2f} us"
        for who in list(runs)[1:]:
            ratio = statistics.median(a / b for a, b in zip(seconds["damo"], seconds[who]))
            line += f"   {who} {statistics.median(seconds[who]) * 1e6:.2f} us, ratio {ratio:.2f}"
        print(line, flush=True)
