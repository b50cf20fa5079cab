"""Runs evals of GradBench (github.com/gradbench/gradbench) against damo and against tools of GradBench, all in one
run, and prints a table: for each eval the sum over its workloads of the mean times of the function and its derivative,
as GradBench scores it (with --median of the medians, which leave out what a first call compiles; with --least of the
shortest, on a machine whose other programs interrupt long calls), and whether the eval found all answers valid.

    python3 bench/gradbench/compare.py --gradbench DIR [--tools manual jax] [--evals lse llsq] [-- arguments of the eval]

DIR is a checkout of GradBench, prepared by `make -C cpp` and `make -C tools/manual` there; this Python needs numpy,
pydantic and dataclasses-json, and what the tools need. damo is the one that `$LUA` (lua5.4 if it is not set) finds in the
environment of the caller: after `make`, `eval "$(make -s print-lua-env)"` sets that to this tree's.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from statistics import mean, median

HERE = os.path.dirname(os.path.abspath(__file__))
EVALS = ["hello", "lse", "llsq", "ode", "lstm", "kmeans", "gmm", "ba", "particle", "saddle", "det"]
PYTHON_TOOLS = ["jax", "pytorch", "tensorflow"]


def tool_command(tool, root):
    if tool == "damo":  # blas-coretype: so that OpenBLAS knows the CPU
        coretype, lua = os.path.join(HERE, "..", "..", "make", "blas-coretype"), os.environ.get("LUA", "lua5.4")
        return ["sh", coretype, lua, os.path.join(HERE, "run.lua")], os.getcwd()
    if tool in PYTHON_TOOLS:
        wait = [os.path.join(HERE, "jax_tool.py")] if tool == "jax" else []
        return [sys.executable, *wait, f"python/gradbench/gradbench/tools/{tool}/run.py"], root
    return [sys.executable, "python/gradbench/gradbench/cpp.py", tool], root


def run(name, tool, root, arguments, middle):
    """Passes messages between an eval and a tool. Returns the mean, median or least time of each (workload, function) in seconds, the
    count of answers found valid, and the errors."""
    environment = dict(os.environ, PYTHONPATH=os.path.join(root, "python", "gradbench"), OPENBLAS_NUM_THREADS="1")
    command, folder = tool_command(tool, root)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    judge = subprocess.Popen(
        [sys.executable, f"python/gradbench/gradbench/evals/{name}/run.py", *arguments], cwd=root, **pipes
    )
    player = subprocess.Popen(command, cwd=folder, **pipes)
    times, valid, errors = {}, 0, []
    for line in judge.stdout:
        message = json.loads(line)
        player.stdin.write(line)
        player.stdin.flush()
        answer_line = player.stdout.readline()
        if not answer_line:
            errors.append("the tool ended")
            break
        answer = json.loads(answer_line)
        if message["kind"] in ("define", "evaluate") and not answer.get("success"):
            errors.append(f"{message.get('function', 'define')}: {answer.get('error', '?')}")
        elif message["kind"] == "evaluate":
            taken = [t["nanoseconds"] for t in answer.get("timings") or [] if t["name"] == "evaluate"]
            if taken:
                times[message.get("description", ""), message["function"]] = middle(taken) / 1e9
        elif message["kind"] == "analysis":
            if message["valid"]:
                valid += 1
            else:
                errors.append(f"invalid: {message.get('error', '?')}")
        judge.stdin.write(answer_line)
        judge.stdin.flush()
    for process in (player, judge):
        process.stdin.close()
        process.wait()
    return times, valid, errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gradbench", required=True)
    parser.add_argument("--tools", nargs="+", default=["manual"])
    parser.add_argument("--evals", nargs="+", default=EVALS)
    parser.add_argument("--median", action="store_true")
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--workloads", action="store_true", help="print a line for each workload too")
    arguments, rest = parser.parse_known_args()
    rest = [a for a in rest if a != "--"]
    root = os.path.abspath(arguments.gradbench)
    tools = ["damo", *arguments.tools]
    middle = min if arguments.least else median if arguments.median else mean
    print(f"{'eval':<10}" + "".join(f"{t + ', ms':>14}" for t in tools) + "".join(f"{'/ ' + t:>10}" for t in tools[1:]))
    for name in arguments.evals:
        sums, notes, rows = {}, [], defaultdict(dict)
        for tool in tools:
            times, valid, errors = run(name, tool, root, rest, middle)
            for key, seconds in times.items():
                rows[key][tool] = seconds
            if times:
                sums[tool] = sum(times.values())
            if errors:
                notes.append(f"{tool}: {len(errors)} errors, first: {errors[0].splitlines()[0][:160]}")
            elif tool == "damo":
                notes.append(f"{valid} answers, all valid")

        def columns(seconds):
            text = "".join(f"{seconds[t] * 1e3:14.4g}" if t in seconds else f"{'-':>14}" for t in tools)
            for t in tools[1:]:
                both = t in seconds and "damo" in seconds
                text += f"{seconds['damo'] / seconds[t]:10.2f}" if both else f"{'-':>10}"
            return text

        print(f"{name:<10}{columns(sums)}   {'; '.join(notes)}", flush=True)
        if arguments.workloads:
            for (workload, function), seconds in rows.items():
                print(f"{columns(seconds):>10}  {workload} {function}", flush=True)


if __name__ == "__main__":
    main()
