"""Writes the models of export.lua as C by CasADi's code generator, into the folder that is the argument."""
import os
import sys

import casadi as ca

os.chdir(sys.argv[1])


def energy(q):
    d = q[1:] - q[:-1]
    return ca.sum1(0.5 * d * d + 0.1 * d * d * d * d) + ca.sum1(ca.cos(q))


def rosenbrock(q):
    head, tail = q[:-1], q[1:]
    return ca.sum1(100 * (tail - head**2)**2 + (1 - head)**2)


def cart(q, force):
    angle, speed, spin = q[1], q[2], q[3]
    sine, cosine = ca.sin(angle), ca.cos(angle)
    mass = 1 + 0.1 * sine * sine
    push = force + 0.05 * sine * spin * spin
    return ca.vertcat(
        speed, spin, (push + 0.981 * sine * cosine) / mass, -(push * cosine + 10.791 * sine) / (0.5 * mass))


def step(q, force):
    h = 0.02
    k1 = cart(q, force)
    k2 = cart(q + 0.5 * h * k1, force)
    k3 = cart(q + 0.5 * h * k2, force)
    k4 = cart(q + h * k3, force)
    return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def write(name, args, result):
    """Matrices of results lie by rows."""
    ca.Function(name + "_casadi", args, [ca.densify(result).T]).generate(name + "_casadi.c", {"with_header": False})


for n in 6, 30, 100, 1000:
    x, v = ca.SX.sym("x", n), ca.SX.sym("v", n)
    gradient = ca.gradient(energy(x), x)
    write("chain_gradient_%d" % n, [x], gradient)
    write("chain_product_%d" % n, [x, v], ca.jtimes(gradient, x, v))
for n in 10, 100:
    x = ca.SX.sym("x", n)
    write("rosenbrock_value_%d" % n, [x], rosenbrock(x))
    write("rosenbrock_gradient_%d" % n, [x], ca.gradient(rosenbrock(x), x))

x, u, v = ca.SX.sym("x", 4), ca.SX.sym("u", 1), ca.SX.sym("v", 4)
write("cart", [x, u], cart(x, u))
write("cart_step", [x, u], step(x, u))
write("cart_step_gradient", [x, u, v], ca.jtimes(step(x, u), x, v, True))
write("cart_step_jacobian", [x, u], ca.jacobian(step(x, u), x))

x, u, b = ca.SX.sym("x", 6), ca.SX.sym("u", 3), ca.SX.sym("b", 16)
w1, w2 = ca.SX.sym("w1", 6, 16), ca.SX.sym("w2", 16, 3)  # by columns: the transposes of matrices by rows
loss = ca.sumsqr(w2.T @ ca.tanh(w1.T @ x + b) - u)
write("network_gradient", [x, u, w1, b, w2], ca.gradient(loss, w1).T)

s = ca.SX.sym("s", 2)
a, b = s[0], s[1]
for _ in range(200):
    c = b - 0.01 * ca.sin(a)
    a, b = a + 0.01 * c, c
write("rollout_gradient", [s], ca.gradient(a * a, s))
