"""Runs GradBench's JAX tool, its run.py given as the argument, so that it times finished computations: a call of a
jitted function returns before its result is computed, and the tool's timings would end there.
"""

import os
import runpy
import sys

import jax
from gradbench import wrap


def waiting(wrapper):
    def with_options(**options):
        decorate = wrapper(**options)
        return lambda function: decorate(lambda *inputs: jax.block_until_ready(function(*inputs)))

    return with_options


wrap.function, wrap.multiple_runs = waiting(wrap.function), waiting(wrap.multiple_runs)
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])  # as if Python had been started with that file
runpy.run_path(sys.argv[0], run_name="__main__")
