"""Times damo's sparse systems, direct calls of CHOLMOD and KLU (solve_floor.c), SciPy and CasADi in turn, in one run.

    python solve_peers.py          the report: medians, and ratios to damo's time
    python solve_peers.py serve    answers the report with SciPy, and with CasADi where it is installed

`make bench` runs it from the root of the project with LUA_PATH and LUA_CPATH set. Times are processor times, of one
thread."""

import os
import sys
import tempfile
import warnings

from sparse_peers import Server, compare, contestants, line, timed


class Operands:
    """A and other values on its pattern, csc, and a right-hand side."""

    def __init__(self, path):
        import numpy as np
        import scipy.sparse as sp

        file = np.load(path)
        self.A = sp.csc_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        self.A.sort_indices()
        self.other = self.A * 1.25
        self.b = np.random.default_rng(3).normal(size=self.A.shape[0])


class SciPy:
    name = "scipy"

    def __init__(self):
        import scipy.sparse.linalg as linalg

        self.linalg = linalg

    def cases(self, o):
        both = [o.A, o.other]
        factor = []

        def new():
            both.reverse()
            return self.linalg.spsolve(both[0], o.b)

        def kept():
            if not factor:
                factor.append(self.linalg.splu(o.A))
            return factor[0].solve(o.b)

        return {"cold": lambda: self.linalg.spsolve(o.A, o.b), "new": new, "kept": kept}


class CasADi:
    """CasADi's linear solver on CSparse, which keeps the analysis."""

    name = "casadi"

    def __init__(self):
        import casadi

        self.casadi = casadi

    def cases(self, o):
        if o.A.shape[0] > 2000:
            return {}
        made = []

        def prepare():
            if not made:
                pattern = self.casadi.Sparsity(*o.A.shape, o.A.indptr.tolist(), o.A.indices.tolist())
                solver = self.casadi.Linsol("solver", "csparse", pattern)
                values = [self.casadi.DM(pattern, m.data) for m in (o.A, o.other)]
                solver.sfact(values[0])
                made.extend([solver, values, self.casadi.DM(o.b)])
            return made

        def new():
            solver, values, b = prepare()
            values.reverse()
            solver.nfact(values[0])
            return solver.solve(values[0], b)

        return {"new": new}


# ---- Serving ---------------------------------------------------------------------------------------------------------


def peers():
    for peer in (SciPy, CasADi):
        try:
            yield peer()
        except ImportError:
            pass


def serve():
    """A line "matrix FILE", "PEER KEY" (tries the case once) or "PEER KEY N" for each answer."""
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    known = {peer.name: peer for peer in peers()}
    print(*known, file=answers, flush=True)
    cases = {}
    for words in sys.stdin:
        what, *rest = words.split()
        if what == "matrix":
            operands = Operands(rest[0])
            cases = {name: peer.cases(operands) for name, peer in known.items()}
            answer = "ok"
        else:
            run = cases[what].get(rest[0].split(".")[1])
            if run is None:
                answer = "none"
            elif len(rest) == 2:
                answer = timed(run, int(rest[1]))
            else:
                try:
                    run()
                    answer = "ok"
                except Exception as error:
                    answer = f"{type(error).__name__}: {error}".splitlines()[0]
        print(answer, file=answers, flush=True)


# ---- The report ------------------------------------------------------------------------------------------------------


def report():
    damo = Server("lua5.4", "bench/sparse.lua", "serve", "solve_cases")
    server = Server(sys.executable, __file__, "serve")
    servers = [(server, server.process.stdout.readline().split())]
    matrices, keys = (words.split() for words in damo.ask("list").split("\t"))
    with tempfile.TemporaryDirectory() as folder:
        for matrix in matrices:
            file = os.path.join(folder, f"{matrix}.npz")
            print(f"sparse systems, csc: {damo.ask('matrix', matrix, file)}; damo's time, and as a share of others'")
            server.ask("matrix", file)
            for key in keys:
                if key.split(".")[0] != matrix:
                    continue
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
        report()
