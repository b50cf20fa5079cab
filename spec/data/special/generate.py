"""Writes NAME.lua beside it for each special function: its values, correctly rounded, by mpmath.

python3 generate.py [NAME …]

`values` are those at the few points at which spec/op/rows/special.lua tries everything else (layouts, dtypes, gradients);
`table` has points drawn from the domain that docs/numerics.md names, for the errors in ULP.
"""
import math
import os
import sys
import random

import mpmath
from mpmath import mp, mpf

mp.dps = 30


def between(a, b):
    return lambda r: r.uniform(a, b)


def scale(a, b):
    return lambda r: math.exp(r.uniform(math.log(a), math.log(b)))


def whole(a, b):
    return lambda r: float(r.randint(a, b))


def either(*draws):
    return lambda r: r.choice(draws)(r)


def derivative(f, i):
    """The derivative of f in argument i, by a central difference."""
    def d(*args):
        with mp.workdps(2 * mp.dps):
            h = mpf(10) ** -(mp.dps // 3)
            up, down = list(args), list(args)
            up[i] += h
            down[i] -= h
            return (f(*up) - f(*down)) / (2 * h)
    return d


def second(f, i, j):
    """The derivative of f in arguments i and j, by central differences of order 2."""
    def d(*args):
        with mp.workdps(4 * mp.dps):
            h = mpf(10) ** -(mp.dps // 4)

            def at(m, n):
                moved = list(args)
                moved[i] += m * h
                moved[j] += n * h
                return f(*moved)
            if i == j:
                return (at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / (h * h)
            return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h)
    return d


def large(d, f, least):
    """Keeps points where the derivative d is no less than a part of the function f: nearer to its zeros only the absolute
    error is small."""
    return lambda *args: abs(d(*args)) > least * abs(f(*args))


def lower(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mpmath.gammainc(a, x, mp.inf, regularized=True)


def betainc(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def solved(f, upper):
    """The inverse of a distribution function f(*parameters, x) in x: the zero of log f - log p over log x."""
    def inverse(*args):
        *parameters, p = args
        lo, hi = mpf(-40), mpf(upper)
        for _ in range(12):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if f(*parameters, mp.exp(mid)) < p else (lo, mid)
        return mp.exp(mpmath.findroot(lambda u: mp.log(f(*parameters, mp.exp(u))) - mp.log(p), (lo, hi), solver="anderson",
                                      tol=mpf(10) ** -44))
    return inverse


def log_ndtr(x):
    return mp.log1p(-mpmath.ncdf(-x)) if x > 0 else mp.log(mpmath.ncdf(x))


def ndtri(p):
    return mp.sqrt(2) * mpmath.erfinv(2 * p - 1)


def owens_t(h, a):
    def f(t):
        return mp.exp(-h * h * t * t / 2) / (1 + t * t)
    return mp.exp(-h * h / 2) / (2 * mp.pi) * mpmath.quad(f, mpmath.linspace(0, a, 9))


def xlogy(x, y):
    return x * mp.log(y)


class Function:
    """at: points for each operand; ints: whole ones; domain: how arguments are drawn for the table."""

    def __init__(self, f, at, domain, ints=None, keep=None):
        self.f, self.at, self.domain, self.ints, self.keep = f, at, domain, ints, keep


POSITIVE = [0.4, 1.5, 4.2, 2.75]
F = {}
X2 = [0.75, 1.25, 3.5, 2.5]
GAMMA = dict(at=[POSITIVE, X2], ints=[[1, 2, 5], [2, 1, 3]], domain=[scale(0.05, 1000), scale(0.05, 1000)])
AROUND = dict(GAMMA, domain=[scale(0.05, 100), scale(0.05, 200)], keep=lambda a, x: a / 3 < x < 3 * a)
F["gammainc"] = Function(lower, **GAMMA)
F["gammaincc"] = Function(upper, **GAMMA)
F["gammainc_grad_a"] = Function(derivative(lower, 0), **AROUND)
LOWER_AA = second(lower, 0, 0)
F["gammainc_grad_aa"] = Function(LOWER_AA, **dict(AROUND, keep=lambda a, x: a / 3 < x < 3 * a and large(
    LOWER_AA, derivative(lower, 0), 0.05 / max(a, math.sqrt(a)))(a, x)))
F["gammal"] = Function(lambda a, x: mpmath.gammainc(a, 0, x), **dict(GAMMA, domain=[scale(0.05, 100), scale(0.05, 100)]))
F["gammau"] = Function(lambda a, x: mpmath.gammainc(a, x), **dict(GAMMA, domain=[scale(0.05, 100), scale(0.05, 100)]))
QUANTILES = dict(at=[POSITIVE, [0.1, 0.35, 0.6, 0.9]], domain=[scale(0.5, 100), between(0.01, 0.99)])
F["gammaincinv"] = Function(solved(lower, 12), **QUANTILES)
F["gammainccinv"] = Function(lambda a, q: solved(lower, 12)(a, 1 - q), **QUANTILES)
PAIR = dict(at=[POSITIVE, X2], ints=[[1, 2, 5], [2, 1, 3]], domain=[scale(1e-3, 1e3), scale(1e-3, 1e3)])
F["beta"] = Function(mpmath.beta, **dict(PAIR, domain=[scale(1e-3, 100), scale(1e-3, 100)]))
F["betaln"] = Function(lambda a, b: mp.log(abs(mpmath.beta(a, b))), **PAIR)
BETA = dict(at=[POSITIVE, X2, [0.3, 0.6, 0.15, 0.8]], domain=[scale(0.1, 1000), scale(0.1, 1000), between(0, 1)])
BETA_AROUND = dict(BETA, domain=[scale(0.1, 30), scale(0.1, 30), between(0.05, 0.95)])
F["betainc"] = Function(betainc, **BETA)
F["betainc_grad_a"] = Function(derivative(betainc, 0), **BETA_AROUND)
F["betainc_grad_b"] = Function(derivative(betainc, 1), **BETA_AROUND)
for p, (i, j) in {"aa": (0, 0), "ab": (0, 1), "bb": (1, 1)}.items():
    d = second(betainc, i, j)
    F["betainc_grad_" + p] = Function(d, **dict(BETA_AROUND, keep=large(d, derivative(betainc, j), 0.02)))
F["betaincinv"] = Function(solved(betainc, 0), **dict(BETA, domain=[scale(0.5, 30), scale(0.5, 30), between(0.01, 0.99)]))
F["poch"] = Function(mpmath.rf, at=[POSITIVE, X2], ints=[[1, 2, 5], [2, 1, 3]], domain=[scale(0.05, 50), between(-0.04, 50)])
F["binom"] = Function(mpmath.binomial, at=[[4.5, 3.25, 6.75, 5.5], X2], ints=[[5, 2, 7], [2, 1, 3]],
                      domain=[between(0, 100), between(0, 100)], keep=lambda n, k: k < n)
F["factorial"] = Function(lambda x: mpmath.gamma(x + 1), at=[X2], ints=[[0, 1, 5]], domain=[between(0, 170)])
NUMBERS = [-2.5, -0.7, 0.3, 1.9]
F["ndtr"] = Function(mpmath.ncdf, at=[NUMBERS], ints=[[0, 1, 2]], domain=[between(-37, 8)])
F["log_ndtr"] = Function(log_ndtr, at=[NUMBERS], ints=[[0, 1, 2]], domain=[either(between(-100, 8), between(-5, 5))])
F["ndtri"] = Function(ndtri, at=[[0.05, 0.35, 0.6, 0.9]], domain=[either(between(0, 1), scale(1e-15, 0.1))])
F["ndtri_exp"] = Function(lambda y: ndtri(mp.exp(y)), at=[[-3.5, -1.2, -0.4, -0.1]],
                          domain=[lambda r: -r.choice([scale(1e-3, 0.5), scale(1, 60)])(r)])
F["logit"] = Function(lambda p: mp.log(p / (1 - p)), at=[[0.05, 0.35, 0.6, 0.9]], domain=[either(between(0, 1), scale(1e-300, 1))])
F["sinc"] = Function(mpmath.sincpi, at=[NUMBERS], domain=[between(-30, 30)], keep=lambda x: abs(x - round(x)) > 1e-3)
F["xlogy"] = Function(xlogy, at=[NUMBERS, X2], ints=[[0, 1, 2], [1, 3, 2]], domain=[between(-5, 5), scale(1e-300, 1e300)])
F["xlog1py"] = Function(lambda x, y: x * mp.log1p(y), at=[NUMBERS, X2], ints=[[0, 1, 2], [1, 3, 2]],
                        domain=[between(-5, 5), either(between(-0.99, 2), scale(1e-300, 1e300))])
F["entr"] = Function(lambda x: -xlogy(x, x), at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-200, 100)])
F["owens_t"] = Function(owens_t, at=[NUMBERS, [-1.5, 0.4, 0.9, 2.25]], domain=[between(-5, 5), between(-3, 3)])

ORDERS = [0.4, 1.5, 3.2, 2.75]
ARGUMENTS = [0.75, 1.25, 3.5, 2.5]


def scaled_i(v, x):
    return mpmath.besseli(v, x) * mp.exp(-abs(x))


def scaled_k(v, x):
    return mpmath.besselk(v, x) * mp.exp(x)


def far_from_zero(f):
    """Keeps points where an oscillating function of size sqrt(2 / (pi x)) is no less than 0.15 of that."""
    return lambda v, x: x < v or abs(f(v, x)) > 0.15 * math.sqrt(2 / (math.pi * x))


for n, f in enumerate([mpmath.besselj, mpmath.bessely]):
    name = "jy"[n] + "v"
    both = dict(at=[ORDERS, ARGUMENTS], ints=[[0, 1, 3], [1, 2, 5]])
    F[name] = Function(f, domain=[between(0, 100), scale(0.01, 1000)], keep=far_from_zero(f), **both)
    F[name + "_grad_v"] = Function(derivative(f, 0), domain=[between(0, 20), scale(0.1, 30)], keep=far_from_zero(derivative(f, 0)),
                                   **both)
    F[name + "_grad_vv"] = Function(second(f, 0, 0), domain=[between(0, 20), scale(0.1, 30)],
                                    keep=far_from_zero(second(f, 0, 0)), **both)
for n, (f, scaled) in enumerate([(mpmath.besseli, scaled_i), (mpmath.besselk, scaled_k)]):
    name = "ik"[n] + "v"
    both = dict(at=[ORDERS, ARGUMENTS], ints=[[0, 1, 3], [1, 2, 5]])
    F[name] = Function(f, domain=[between(0, 100), scale(0.01, 700)], **both)
    F[name + "e"] = Function(scaled, domain=[between(0, 100), scale(0.01, 1e4)], **both)
    F[name + "e_grad_v"] = Function(derivative(scaled, 0), domain=[between(0.1, 50), scale(0.1, 100)], **both)
    F[name + "e_grad_vv"] = Function(second(scaled, 0, 0), domain=[between(0.1, 50), scale(0.1, 100)],
                                     keep=large(second(scaled, 0, 0), scaled, 1e-3), **both)
F["ive"], F["kve"] = F.pop("ive"), F.pop("kve")
F["ive_grad_vv"], F["kve_grad_vv"] = F.pop("ive_grad_vv"), F.pop("kve_grad_vv")
F["ive_grad_v"], F["kve_grad_v"] = F.pop("ive_grad_v"), F.pop("kve_grad_v")
ONE = dict(at=[NUMBERS], ints=[[0, 1, 2]])
F["i0e"] = Function(lambda x: scaled_i(0, x), domain=[either(between(-50, 50), scale(1e-5, 1e5))], **ONE)
F["i1e"] = Function(lambda x: scaled_i(1, x), domain=[either(between(-50, 50), scale(1e-5, 1e5))], **ONE)
F["k0"] = Function(lambda x: mpmath.besselk(0, x), at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-5, 700)])
F["k1"] = Function(lambda x: mpmath.besselk(1, x), at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-5, 700)])
F["y0"] = Function(lambda x: mpmath.bessely(0, x), at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-5, 1000)],
                   keep=lambda x: abs(mpmath.bessely(0, x)) > 0.15 * min(1, x ** -0.5))
F["y1"] = Function(lambda x: mpmath.bessely(1, x), at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-5, 1000)],
                   keep=lambda x: abs(mpmath.bessely(1, x)) > 0.15 * min(1, x ** -0.5))


def spherical(n, x):
    return mp.sqrt(mp.pi / (2 * x)) * mpmath.besselj(n + mpf(1) / 2, x)


WHOLE = [[0.0, 1.0, 4.0, 2.0], X2]
F["spherical_jn"] = Function(spherical, at=WHOLE, ints=[[0, 1, 2], [1, 3, 2]], domain=[whole(0, 30), scale(0.01, 100)],
                             keep=lambda n, x: x < n or abs(spherical(n, x)) > 0.15 / x)
ZETA = dict(at=[[1.5, 2.25, 4.5, 3.0], X2], ints=[[2, 3, 5], [1, 3, 2]])
F["hurwitz_zeta"] = Function(mpmath.zeta, domain=[scale(1.01, 30), scale(0.01, 100)], **ZETA)
F["zeta_grad_s"] = Function(lambda s, q: mpmath.zeta(s, q, 1), domain=[scale(1.05, 30), scale(0.01, 20)], **ZETA)
F["zeta_grad_ss"] = Function(lambda s, q: mpmath.zeta(s, q, 2), domain=[scale(1.05, 30), scale(0.01, 20)], **ZETA)
F["riemann_zeta"] = Function(mpmath.zeta, at=[[1.5, 2.25, -0.5, 0.25]], ints=[[0, 3, 2]],
                             domain=[either(between(-20, 1), scale(1.01, 50))], keep=lambda s: s > 0 or abs(s / 2 - round(s / 2)) > 0.1)
F["riemann_zeta_grad"] = Function(lambda s: mpmath.zeta(s, 1, 1), at=[[1.5, 2.25, -0.5, 0.25]], ints=[[0, 3, 2]],
                                  domain=[either(between(-2, 0.9), scale(1.05, 30))])
F["riemann_zeta_grad_ss"] = Function(lambda s: mpmath.zeta(s, 1, 2), at=[[1.5, 2.25, -0.5, 0.25]], ints=[[0, 3, 2]],
                                     domain=[either(between(-2, 0.9), scale(1.05, 30))])
F["polygamma"] = Function(lambda n, x: mpmath.polygamma(int(n), x), at=[[0.0, 1.0, 3.0, 2.0], X2], ints=[[0, 1, 2], [1, 3, 2]],
                          domain=[whole(1, 20), either(scale(0.01, 100), between(0.2, 10))])
F["expn"] = Function(mpmath.expint, at=[[0.5, 1.0, 3.0, 2.0], X2], ints=[[0, 1, 2], [1, 3, 2]],
                     domain=[either(whole(0, 50), between(0, 10)), scale(0.001, 600)])
F["expn_grad_n"] = Function(derivative(mpmath.expint, 0), at=[[0.25, 1.0, 3.0, 2.0], X2], ints=[[1, 1, 2], [1, 3, 2]],
                            domain=[between(0.1, 50), scale(0.01, 600)])
F["expn_grad_nn"] = Function(second(mpmath.expint, 0, 0), at=[[0.25, 1.0, 3.0, 2.0], X2], ints=[[1, 1, 2], [1, 3, 2]],
                             domain=[between(0.1, 50), scale(0.01, 600)])
F["exp1"] = Function(mpmath.e1, at=[X2], ints=[[1, 3, 2]], domain=[scale(1e-10, 700)])
F["expi"] = Function(mpmath.ei, at=[[0.75, -1.25, 3.5, 2.5]], ints=[[1, 3, 2]],
                     domain=[either(scale(1e-10, 700), between(-5, 50), lambda r: -math.exp(r.uniform(-20, 6.5)))])
F["lambertw_principal"] = Function(mpmath.lambertw, at=[[-0.3, 0.25, 1.5, 4.0]], ints=[[0, 1, 2]],
                                   domain=[either(between(-0.367, 3), scale(1e-10, 1e300))])
F["lambertw_lower"] = Function(lambda x: mpmath.lambertw(x, -1), at=[[-0.3, -0.25, -0.01, -0.1]],
                               domain=[either(between(-0.367, 0), lambda r: -scale(1e-250, 0.1)(r))])
F["ellipk"] = Function(mpmath.ellipk, at=[[-1.5, -0.2, 0.4, 0.75]], ints=[[0, 0, 0]],
                       domain=[either(between(-5, 1), lambda r: 1 - scale(1e-12, 1)(r), lambda r: -scale(1, 1e8)(r))])
F["ellipe"] = Function(mpmath.ellipe, **{k: v for k, v in vars(F["ellipk"]).items() if k != "f"})
F["ellipd"] = Function(lambda m: (mpmath.ellipk(m) - mpmath.ellipe(m)) / m, at=F["ellipk"].at, domain=F["ellipk"].domain)


def away_from_zero(f, least):
    return lambda x: abs(f(x)) > least


F["dawsn"] = Function(lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mpmath.erfi(x), at=[NUMBERS], ints=[[0, 1, 2]],
                      domain=[either(between(-12, 12), scale(1e-300, 1e6))])
F["sinint"] = Function(mpmath.si, at=[NUMBERS], ints=[[0, 1, 2]], domain=[either(between(-50, 50), scale(1e-300, 1000))])
F["cosint"] = Function(mpmath.ci, at=[X2], ints=[[1, 3, 2]], domain=[either(between(0, 50), scale(1e-300, 1000))],
                       keep=lambda x: abs(mpmath.ci(x)) > 0.15 * min(1, 1 / x))
F["sinhint"] = Function(mpmath.shi, at=[NUMBERS], ints=[[0, 1, 2]], domain=[either(between(-50, 50), scale(1e-300, 700))])
F["coshint"] = Function(mpmath.chi, at=[X2], ints=[[1, 3, 2]], domain=[either(between(0, 50), scale(1e-300, 700))],
                        keep=lambda x: abs(mpmath.chi(x)) > 0.15)
FRESNEL = dict(at=[NUMBERS], ints=[[0, 1, 2]], domain=[either(between(-10, 10), scale(1e-90, 1000))])
F["fresnels"] = Function(mpmath.fresnels, **FRESNEL)
F["fresnelc"] = Function(mpmath.fresnelc, **FRESNEL)
for n, f in enumerate([mpmath.airyai, mpmath.airybi]):
    for prime in (0, 1):
        def airy(x, f=f, prime=prime):
            return f(x, derivative=prime)
        # away from its zeros: above 0.15 of its size there
        F["airy_" + ["ai", "bi"][n] + "_prime" * prime] = Function(
            airy, at=[NUMBERS], ints=[[0, 1, 2]], domain=[either(between(-30, 30), between(-3, 3), scale(1, 100))],
            keep=lambda x, f=airy, p=prime: x > 0 or abs(f(x)) > 0.1 * max(1, -x) ** (0.25 if p else -0.25))
ANGLES = dict(at=[[-0.6, 0.3, 1.2, 2.4], [-1.5, 0.2, 0.4, 0.75]], ints=[[0, 1, 2], [0, 0, 0]],
              domain=[either(between(-1.57, 1.57), between(-20, 20)),
                      either(between(0, 1), lambda r: 1 - scale(1e-9, 1)(r), lambda r: -scale(0.01, 1e4)(r))])
F["ellipkinc"] = Function(mpmath.ellipf, **ANGLES)
F["ellipeinc"] = Function(mpmath.ellipe, **ANGLES)
F["ellipdinc"] = Function(lambda phi, m: (mpmath.ellipf(phi, m) - mpmath.ellipe(phi, m)) / m if m != 0 else
                          phi / 2 - mp.sin(2 * phi) / 4, **ANGLES)


def d_ellipf(phi, m):
    if m == 0:
        return phi / 4 - mp.sin(2 * phi) / 8
    root = mp.sqrt(1 - m * mp.sin(phi) ** 2)
    d = (mpmath.ellipf(phi, m) - mpmath.ellipe(phi, m)) / m
    return (mpmath.ellipf(phi, m) - d - mp.sin(phi) * mp.cos(phi) / root) / (2 * (1 - m))


F["ellipkinc_grad_m"] = Function(d_ellipf, **ANGLES)
MODULUS = dict(at=[[-0.6, 0.3, 1.2, 2.4], [0.1, 0.2, 0.4, 0.75]], ints=[[0, 1, 2], [0, 0, 0]],
               domain=[between(-5, 5), either(between(0, 1), lambda r: 1 - scale(1e-6, 1)(r))])


def jacobi(kind):
    return lambda u, m: mpmath.ellipfun(kind, u=u, m=m)


def amplitude(u, m):
    k = mpmath.ellipk(m)
    n = mp.floor(u / (2 * k) + 0.5)
    v = u - 2 * k * n
    return n * mp.pi + mp.atan2(mpmath.ellipfun("sn", u=v, m=m), mpmath.ellipfun("cn", u=v, m=m))


F["jacobi_am"] = Function(amplitude, **MODULUS)
for kind in ("sn", "cn", "dn"):
    F["jacobi_" + kind] = Function(jacobi(kind), keep=lambda u, m, f=jacobi(kind): abs(f(u, m)) > 0.2, **MODULUS)
KUMMER = dict(at=[[0.7, 1.5, 2.25, 1.0], [1.25, 2.5, 3.0, 2.75], [-0.6, 0.3, 2.5, -1.2]], ints=[[1, 1, 2], [2, 3, 3], [0, 1, 2]],
              domain=[between(0.1, 10), between(0.1, 10), either(between(-20, 20), between(-300, 300))],
              keep=lambda a, b, x: x > 0 or b > a)
F["hyp1f1"] = Function(mpmath.hyp1f1, **KUMMER)
for n in range(2):
    F["hyp1f1_grad_" + "ab"[n]] = Function(derivative(mpmath.hyp1f1, n), **KUMMER)
HYPER = dict(at=[[0.7, 1.5, 2.25, 1.0], [1.25, 0.5, 2.0, 2.75], [2.5, 1.75, 3.0, 4.5], [-0.6, 0.3, 0.7, -0.2]],
             domain=[between(0.1, 5), between(0.1, 5), between(0.5, 5), between(-0.9, 0.9)],
             keep=lambda a, b, c, x: x > 0 or c > min(a, b))
F["hyp2f1"] = Function(mpmath.hyp2f1, **HYPER)
for n in range(3):
    F["hyp2f1_grad_" + "abc"[n]] = Function(derivative(mpmath.hyp2f1, n), **HYPER)

N_TABLE = 40


def rounded(y):
    return float(mpmath.re(y))


def key(args):
    return "|".join("%.17g" % x for x in args)


def text(x):
    return "%.17g" % x if x == x and abs(x) != math.inf else "0/0"


def points_of(g):
    """Every point that h.each of the harness asks for."""
    n = len(g.at)
    asked = set(zip(*g.at))
    if n > 1:
        asked |= {(x, y) + tuple(c[0] for c in g.at[2:]) for x in g.at[0] for y in g.at[1]}
    for column in zip(*(g.ints or [])):
        asked.add(tuple(float(x) for x in column))
    return sorted(asked)


def value(g, args):
    """By doubling the digits until the value stays: mpmath's precision is absolute for some functions."""
    before = None
    for dps in (30, 60, 120, 240, 480):
        with mp.workdps(dps):
            y = g.f(*(mpf(x) for x in args))
        if before is not None and abs(y - before) <= mpf(10) ** -20 * abs(y):
            return rounded(y)
        before = y
    raise ValueError("no value at %s" % (args,))


def write(name, g, path):
    draw = random.Random(name)
    with open(path, "w") as out:
        out.write("-- Written by generate.py.\nreturn {\n")
        columns = ", ".join("{ %s }" % ", ".join(text(x) for x in column) for column in g.at)
        out.write("  at = { %s },\n" % columns)
        if g.ints:
            columns = ", ".join("{ %s }" % ", ".join(str(x) for x in column) for column in g.ints)
            out.write("  ints = { %s },\n" % columns)
        out.write("  values = {\n")
        for args in points_of(g):
            out.write('    ["%s"] = %s,\n' % (key(args), text(value(g, args))))
        out.write("  },\n  table = {\n")
        n = 0
        while n < N_TABLE:
            args = [d(draw) for d in g.domain]
            if g.keep and not g.keep(*args):
                continue
            y = value(g, args)
            if not 1e-290 < abs(y) < 1e300:
                continue
            out.write("    { %s },\n" % ", ".join(text(x) for x in args + [y]))
            n += 1
        out.write("  },\n}\n")


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for chosen in sys.argv[1:] or F:
        write(chosen, F[chosen], os.path.join(here, chosen + ".lua"))
