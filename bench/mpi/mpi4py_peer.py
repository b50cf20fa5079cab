"""The collectives of overhead.lua by mpi4py, on buffers of NumPy: sh mpi/launch 2 python3 bench/mpi/mpi4py_peer.py.

Columns: bytes, microseconds of a call on the slowest rank, the least of the rounds.
"""

import os

import numpy
from mpi4py import MPI

TARGETS = 10
ROUNDS = int(os.environ.get("ROUNDS", "101"))
MOST = int(float(os.environ.get("MOST", "8388608")))

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def broadcast(x, out):
    if rank == 0:
        out[:] = x
    comm.Bcast(out)


def halo(x, out):
    n, before, after = len(x), (rank - 1) % size, (rank + 1) % size
    requests = [comm.Irecv(out[:n], before, 1), comm.Irecv(out[2 * n :], after, 2)]
    requests += [comm.Isend(x, after, 1), comm.Isend(x, before, 2)]
    out[n : 2 * n] = x
    MPI.Request.Waitall(requests)


CASES = [
    ("allreduce", lambda x, out: comm.Allreduce(x, out), 1),
    ("bcast", broadcast, 1),
    ("allgather", lambda x, out: comm.Allgather(x, out), size),
    ("halo", halo, 3),
]

for name, call, length in CASES:
    for n in (1, 16, 128, 1024, 8192, 65536, 1048576):
        if 8 * n > MOST:
            break
        x, outs = numpy.ones(n), [numpy.ones(n * length) for _ in range(TARGETS)]
        calls, times = max(1, int(2e4 / (n + 1000))), []
        for _ in range(ROUNDS + 1):
            comm.Barrier()
            start = MPI.Wtime()
            for _ in range(calls):
                for out in outs:
                    call(x, out)
            times.append(comm.allreduce((MPI.Wtime() - start) / calls / TARGETS, MPI.MAX))
        if rank == 0:
            print(f"mpi4py {name:10s} {8 * n:9d} {1e6 * min(times[1:]):12.2f}", flush=True)
