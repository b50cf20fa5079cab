"""Writes the models of export.lua as C by CasADi's code generator, into the folder that is the argument."""
import os
import sys

import casadi as ca

os.chdir(sys.argv[1])


def energy(q):
    d = q[1:] - q[:-1]
    return ca.sum1(0.5 * d * d + 0.1 * d * d * d * d) + ca.sum1(ca.cos(q))


def write(name, args, result):
    ca.Function(name, args, [ca.densify(result)]).generate(name + ".c", {"with_header": False})


x, v, s = ca.SX.sym("x", 1000), ca.SX.sym("v", 1000), ca.SX.sym("s", 2)
gradient = ca.gradient(energy(x), x)
write("chain_gradient_casadi", [x], gradient)
write("chain_product_casadi", [x, v], ca.jtimes(gradient, x, v))
a, b = s[0], s[1]
for _ in range(200):
    c = b - 0.01 * ca.sin(a)
    a, b = a + 0.01 * c, c
write("rollout_gradient_casadi", [s], ca.gradient(a * a, s))
