"""Writes plain_values.h, values of the functions of kernel/plain by mpmath: python3 plain_values.py > plain_values.h"""
import math
import random

import mpmath
from mpmath import mp, mpf

random.seed(1)
uniform = random.uniform


def scaled(low, high):
    return math.ldexp(uniform(1, 2), random.randint(low, high)) * random.choice((1, -1))


def near_quarter(bits):
    """A number next to a multiple of pi / 2."""
    with mp.workprec(1300):
        return float(random.getrandbits(bits) * mp.pi / 2)


def trig():
    return random.choice((lambda: uniform(-7, 7), lambda: uniform(-1e6, 1e6), lambda: scaled(20, 1023),
                          lambda: near_quarter(random.randint(1, 19)), lambda: near_quarter(random.randint(20, 900))))()


def one_of(*makers):
    return random.choice(makers)()


FUNCTIONS = (
    ("exp", mpmath.exp, lambda: one_of(lambda: uniform(-745, 709.7), lambda: uniform(-1, 1))),
    ("exp2", lambda x: mpmath.power(2, x), lambda: one_of(lambda: uniform(-1074, 1023), lambda: uniform(-1, 1))),
    ("expm1", mpmath.expm1, lambda: one_of(lambda: uniform(-60, 709.7), lambda: uniform(-3, 3), lambda: scaled(-60, 0))),
    ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), lambda: one_of(lambda: uniform(-745, 40), lambda: uniform(-5, 5))),
    ("sinh", mpmath.sinh, lambda: one_of(lambda: uniform(-710.4, 710.4), lambda: uniform(-3, 3), lambda: scaled(-60, 0))),
    ("cosh", mpmath.cosh, lambda: one_of(lambda: uniform(-710.4, 710.4), lambda: uniform(-3, 3))),
    ("tanh", mpmath.tanh, lambda: one_of(lambda: uniform(-25, 25), lambda: uniform(-2, 2), lambda: scaled(-60, 0))),
    ("log", mpmath.log, lambda: one_of(lambda: abs(scaled(-1074, 1023)), lambda: uniform(0.5, 2))),
    ("log1p", mpmath.log1p, lambda: one_of(lambda: uniform(-1, 2), lambda: scaled(-60, -1), lambda: abs(scaled(0, 1023)))),
    ("sin", mpmath.sin, trig), ("cos", mpmath.cos, trig), ("tan", mpmath.tan, trig),
    ("asin", mpmath.asin, lambda: one_of(lambda: uniform(-1, 1), lambda: 1 - abs(scaled(-50, -2)), lambda: scaled(-60, -2))),
    ("acos", mpmath.acos, lambda: one_of(lambda: uniform(-1, 1), lambda: 1 - abs(scaled(-50, -2)))),
    ("atan", mpmath.atan, lambda: one_of(lambda: uniform(-3, 3), lambda: scaled(-1074, 1023))),
    ("erf", mpmath.erf, lambda: one_of(lambda: uniform(-6, 6), lambda: scaled(-1074, -1))),
)


def power_case():
    x = one_of(lambda: abs(scaled(-1074, 1023)), lambda: uniform(0.5, 2), lambda: 1 + scaled(-52, -5))
    return x, uniform(-744, 709) / (abs(math.log(x)) or 1)


def atan2_case():
    y = one_of(lambda: scaled(-1074, 1023), lambda: uniform(-1, 1))
    return y, one_of(lambda: scaled(-1074, 1023), lambda: y * uniform(-3, 3))


def row(name, value, x, y=0.0):
    with mp.workprec(1300):
        v = value(mpf(x), mpf(y)) if name in ("pow", "atan2") else value(mpf(x))
        print(f"    {{{name.upper()}, {x.hex()}, {y.hex()}, {float(v).hex()}}},")


print("/* Values of the functions of kernel/plain, rounded to float64. plain_values.py writes this. */")
names = [f[0] for f in FUNCTIONS] + ["pow", "atan2"]
print("typedef enum plain_name { " + ", ".join(n.upper() for n in names) + " } plain_name;")
print("static const struct plain_value {\n  plain_name name;\n  double x, y, value;\n} plain_values[] = {")
for name, value, argument in FUNCTIONS:
    for _ in range(40):
        row(name, value, argument())
for _ in range(80):
    row("pow", mpmath.power, *power_case())
for _ in range(60):
    row("atan2", mpmath.atan2, *atan2_case())
print("};")
