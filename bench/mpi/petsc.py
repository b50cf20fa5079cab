"""The rows of petsc.lua by petsc4py: see there."""
import sys
import time

import numpy as np
import petsc4py

petsc4py.init([])
from mpi4py import MPI
from petsc4py import PETSc

comm = MPI.COMM_WORLD
n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
total, plane = n * n * n, n * n
first, stop = total * comm.rank // comm.size, total * (comm.rank + 1) // comm.size


def poisson():
    i = np.arange(first, stop)
    x, y, z = i % n, i // n % n, i // plane
    ok = [z > 0, y > 0, x > 0, i >= 0, x < n - 1, y < n - 1, z < n - 1]
    by = [-plane, -n, -1, 0, 1, n, plane]
    rows = np.concatenate([i[k] - first for k in ok])
    cols = np.concatenate([i[k] + b for k, b in zip(ok, by)])
    order = np.lexsort((cols, rows))
    data = np.where(cols == rows + first, 6.0, -1.0)[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=stop - first))])
    return indptr.astype(PETSc.IntType), cols[order].astype(PETSc.IntType), data


def measure(name, times, fn):
    best = np.inf
    fn(1)
    for k in range(times):
        comm.barrier()
        begun = time.perf_counter()
        fn(k + 2)
        best = min(best, comm.allreduce(time.perf_counter() - begun, MPI.MAX))
    if comm.rank == 0:
        print(f"{name:<32} {best:.3e}", flush=True)


indptr, indices, data = poisson()
A = PETSc.Mat().createAIJ(((stop - first, total),) * 2, csr=(indptr, indices, data), comm=comm)
x, y = A.createVecs()
x.array[:] = np.sin(np.arange(first, stop) * 0.1)
measure("A x", 50, lambda k: A.mult(x, y))
measure("A' x", 50, lambda k: A.multTranspose(x, y))


def solver(kind, pc):
    A.setOption(PETSc.Mat.Option.SPD, True)
    ksp = PETSc.KSP().create(comm)
    ksp.setOperators(A)
    ksp.setType(kind)
    ksp.getPC().setType(pc)
    if pc == "cholesky":
        ksp.getPC().setFactorSolverType("mumps")
    ksp.setTolerances(rtol=1e-8)
    return ksp


def new_values(k):
    A.setValuesCSR(indptr, indices, data * (1 + 0.01 * k))
    A.assemble()


def solve_new(ksp, k):
    new_values(k)
    ksp.solve(x, y)


cg = solver("cg", "gamg")
measure("solve, cg gamg, same matrix", 5, lambda k: cg.solve(x, y))
measure("solve, cg gamg, new values", 3, lambda k: solve_new(cg, k))
mumps = solver("preonly", "cholesky")
measure("solve, mumps, new values", 2, lambda k: solve_new(mumps, k))


def adjoint(k):
    solve_new(mumps, k)
    z = y.duplicate()
    mumps.solveTranspose(2 * y, z)
    start, end = A.getOwnershipRange()
    ghosts = np.unique(indices)
    seq = PETSc.Vec().createSeq(len(ghosts))
    scatter = PETSc.Scatter().create(y, PETSc.IS().createGeneral(ghosts, comm=comm), seq, None)
    scatter.scatter(y, seq)
    return -np.repeat(z.array, np.diff(indptr)) * seq.array[np.searchsorted(ghosts, indices)]


measure("solve and gradients, mumps", 2, adjoint)
