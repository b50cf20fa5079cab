"""Times damo's sparse ops, the plain loops of floor.c, and the peers in turn, in one run; prints medians and ratios.

    python sparse_peers.py [PYTHON…]     the report; each PYTHON is a further interpreter whose peers are timed too
    python sparse_peers.py serve         answers the report with this interpreter's peers: SciPy, PyTensor, Aesara

`make bench` runs it from the root of the project with LUA_PATH and LUA_CPATH set. Times are processor times, of one
thread."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Compile times are not measured here, so the peers' compilation caches are kept.
cache = os.path.abspath("build/peers")
os.environ["PYTENSOR_FLAGS"] = f"base_compiledir={cache}/pytensor"
os.environ["AESARA_FLAGS"] = f"base_compiledir={cache}/aesara"

ROUNDS = 9
BATCH = 0.02  # least seconds of a measurement
ENOUGH = 1.0  # a case that has taken this many seconds is not timed a fourth time
COLS = 64


# ---- The peers' cases: functions without arguments -------------------------------------------------------------------


class Operands:
    """The dense operands: damo's shapes, other values."""

    def __init__(self, path):
        import numpy as np
        import scipy.sparse as sp

        file = np.load(path)
        rng = np.random.default_rng(3)
        self.A = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        self.A.sort_indices()
        n = self.A.shape[0]
        self.D, self.G = rng.normal(size=(n, COLS)), rng.normal(size=(n, COLS))
        self.v, self.rows = rng.normal(size=n), rng.integers(0, n, 1000)


class SciPy:
    name = "scipy"

    def __init__(self):
        import numpy as np
        import scipy.sparse as sp

        np.seterr(over="ignore")
        self.np, self.sp = np, sp

    def cases(self, o):
        np, sp, A = self.np, self.sp, o.A

        def sampling():
            rows = np.repeat(o.D, np.diff(A.indptr), axis=0)
            data = A.data * np.einsum("ij,ij->i", rows, o.G[A.indices])
            return sp.csr_matrix((data, A.indices, A.indptr), shape=A.shape)

        def with_data(data):
            return sp.csr_matrix((data, A.indices, A.indptr), shape=A.shape)

        return {
            "matvec": lambda: A @ o.v,
            "matmat": lambda: A @ o.D,
            "gram": lambda: A @ A.T,
            "sampling": sampling,
            "usmm": lambda: 2 * (A @ o.D) + o.G,
            "add_transpose": lambda: A + A.T,
            "tocsc": lambda: A.tocsc(),
            "sum_columns": lambda: A.sum(axis=0),
            "sum_rows": lambda: A.sum(axis=1),
            "sum_all": lambda: A.sum(),
            "col_scale": lambda: A.multiply(o.v),
            "hstack": lambda: sp.hstack([A] * 10, format="csr"),
            "vstack": lambda: sp.vstack([A] * 10, format="csr"),
            "rows": lambda: A[o.rows],
            "structured_exp": lambda: with_data(np.exp(o.A.data)),
        }


class Graph:
    """PyTensor and Aesara, whose names are the same, with their C code."""

    def cases(self, o):
        s, t = self.sparse, self.tensor
        a, D, G = s.csr_matrix("A", dtype="float64"), t.dmatrix("D"), t.dmatrix("G")
        v, rows = t.dvector("v"), t.lvector("rows")

        def dot_grad():
            y = s.structured_dot(a, D)
            return self.module.grad(None, [a, D], known_grads={y: G})

        plans = {
            "matvec": ("A v", lambda: s.dot(a, v)),
            "matmat": ("A D", lambda: s.structured_dot(a, D)),
            "dot_grad": ("A D G", dot_grad),
            "gram": ("A", lambda: s.true_dot(a, a.T)),
            "sampling": ("D G A", lambda: s.sampling_dot(D, G, a)),
            "usmm": ("A D G", lambda: s.usmm(t.constant(2.0), a, D, G)),
            "add_transpose": ("A", lambda: s.add(a, a.T)),
            "sum_columns": ("A", lambda: s.sp_sum(a, axis=0)),
            "sum_rows": ("A", lambda: s.sp_sum(a, axis=1)),
            "sum_all": ("A", lambda: s.sp_sum(a)),
            "col_scale": ("A v", lambda: s.col_scale(a, v)),
            "hstack": ("A", lambda: s.hstack([a] * 10, format="csr")),
            "vstack": ("A", lambda: s.vstack([a] * 10, format="csr")),
            "rows": ("A rows", lambda: s.basic.get_item_list(a, rows)),
            "structured_exp": ("A", lambda: s.structured_exp(a)),
        }
        variables = {"A": a, "D": D, "G": G, "v": v, "rows": rows}

        def make(names, result):
            names = names.split()
            f = self.module.function([variables[n] for n in names], result(), mode=self.mode)
            values = [getattr(o, n) for n in names]
            return lambda: f(*values)

        return {key: Late(make, *plan) for key, plan in plans.items()}


class Late:
    """A case that is compiled at its first call."""

    def __init__(self, make, *args):
        self.make, self.args, self.run = make, args, None

    def __call__(self):
        if self.run is None:
            self.run = self.make(*self.args)
        return self.run()


class PyTensor(Graph):
    name = "pytensor"

    def __init__(self):
        import pytensor
        import pytensor.sparse
        import pytensor.tensor

        self.module, self.sparse, self.tensor = pytensor, pytensor.sparse, pytensor.tensor
        self.mode = "CVM"


class Aesara(Graph):
    name = "aesara"

    def __init__(self):
        import aesara
        import aesara.sparse
        import aesara.tensor

        self.module, self.sparse, self.tensor = aesara, aesara.sparse, aesara.tensor
        self.mode = "FAST_RUN"


# ---- Serving ---------------------------------------------------------------------------------------------------------


def peers():
    for peer in (SciPy, PyTensor, Aesara):
        try:
            yield peer()
        except ImportError:
            pass


def timed(run, n):
    start = time.process_time()
    for _ in range(n):
        run()
    return time.process_time() - start


def serve():
    """A line "matrix FILE", "PEER KEY" (tries the case once) or "PEER KEY N" for each answer."""
    answers, sys.stdout = sys.stdout, sys.stderr
    known = {peer.name: peer for peer in peers()}
    print(*known, file=answers, flush=True)
    for line in sys.stdin:
        what, *rest = line.split()
        if what == "matrix":
            operands = Operands(rest[0])
            cases = {name: peer.cases(operands) for name, peer in known.items()}
            answer = "ok"
        elif rest[0] not in cases[what]:
            answer = "none"
        elif len(rest) == 2:
            answer = timed(cases[what][rest[0]], int(rest[1]))
        else:
            try:
                cases[what][rest[0]]()
                answer = "ok"
            except Exception as error:
                answer = f"{type(error).__name__}: {error}".splitlines()[0]
        print(answer, file=answers, flush=True)


# ---- The report ------------------------------------------------------------------------------------------------------


class Server:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"sparse bench: no answer to {' '.join(map(str, words))}")
        return answer.rstrip("\n")


def contestants(damo, servers, key):
    """Functions that time n runs: of damo, its floor, the value of which it is the gradient, each peer that has it."""
    found = {}
    for who in ("damo", "floor", "value"):
        if damo.ask(who, 1) != "none":
            found[who] = lambda n, who=who: float(damo.ask(who, n))
    for server, names in servers:
        for name in names:
            answer = server.ask(name, key)
            if answer == "ok":
                found[name] = lambda n, server=server, name=name: float(server.ask(name, key, n))
            elif answer != "none":
                print(f"    {name}: {answer}", flush=True)
    return found


def compare(found):
    """Medians of seconds, and of the ratios of damo's to the others', over rounds in which all are timed in turn."""
    runs, times = {}, {who: [] for who in found}
    for who, run in found.items():
        run(1)
        runs[who] = max(1, int(BATCH / max(run(1), 1e-7)))
    for k in range(ROUNDS):
        spent = sum(map(sum, times.values()))
        if k >= 3 and spent > ENOUGH or k >= 1 and spent > 4 * ENOUGH:
            break
        for who, run in found.items():
            if runs[who] > 1:
                run(runs[who] // 2)  # the others have evicted the caches, and warming them takes many runs
            times[who].append(run(runs[who]) / runs[who])
    ratios = {who: statistics.median(a / b for a, b in zip(times["damo"], t)) for who, t in times.items()}
    return statistics.median(times["damo"]), ratios


def line(title, targets, seconds, ratios):
    others = [who for who in ratios if who not in ("damo", "floor", "value")]
    if others:
        ratios["best"] = max(ratios[who] for who in others)
    parts, met = [], True
    for who, ratio in ratios.items():
        if who in ("damo", "best"):
            continue
        parts.append(f"{who} {ratio:.2f}")
    goals = []
    for target in targets.split():
        who, most = target.split("=")
        if who in ratios:
            met = met and ratios[who] <= float(most)
            goals.append(f"{who} <= {most}")
    mark = ("reached" if met else "missed") + ": " + ", ".join(goals) if goals else ""
    print(f"  {title:34} {seconds * 1e3:10.3f} ms  {'  '.join(parts):54} {mark}", flush=True)


def report(interpreters):
    damo = Server("lua5.4", "bench/sparse.lua", "serve")
    servers = []
    for python in interpreters:
        server = Server(python, __file__, "serve")
        servers.append((server, server.process.stdout.readline().split()))
    matrices, keys = (words.split() for words in damo.ask("list").split("\t"))
    with tempfile.TemporaryDirectory() as folder:
        for matrix in matrices:
            file = f"{folder}/{matrix}.npz"
            print(f"sparse, csr: {damo.ask('matrix', matrix, file)}; damo's time, and as a share of others'")
            for server, _ in servers:
                server.ask("matrix", file)
            for key in keys:
                title, targets = damo.ask("about", key).split("\t")
                made = damo.ask("make", key)
                if made != "ok":
                    print(f"  {title:34} left out: {made}")
                    continue
                line(title, targets, *compare(contestants(damo, servers, key)))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        report([sys.executable] + sys.argv[1:])
