"""Prints the constants of plain.h: python3 plain_tables.py

Needs mpmath. Polynomials are minimax by Remez's exchange, with the weight that makes their error that of the function;
each is followed by its largest error.
"""
import mpmath
from mpmath import mp, mpf

mp.prec = 240


def remez(f, degree, low, high, weight):
    """Coefficients of p of that degree with the least maximum of |weight (f - p)| over [low, high], and that maximum."""
    low, high = mpf(low), mpf(high)
    middle, half, n = (low + high) / 2, (high - low) / 2, degree + 2
    at = [middle - half * mpmath.cos(mp.pi * k / (n - 1)) for k in range(n)]
    for _ in range(12):
        a, b = mpmath.matrix(n, n), mpmath.matrix(n, 1)
        for i, x in enumerate(at):
            for j in range(degree + 1):
                a[i, j] = x**j
            a[i, n - 1] = (-1)**i / weight(x)
            b[i] = f(x)
        c = list(mpmath.lu_solve(a, b))[:-1]
        grid = [middle - half * mpmath.cos(mp.pi * k / (40 * n)) for k in range(40 * n + 1)]
        error = [weight(x) * (f(x) - mpmath.polyval(c[::-1], x)) for x in grid]
        peaks = []
        for k, e in enumerate(error):
            if not peaks or (e > 0) != (error[peaks[-1]] > 0):
                peaks.append(k)
            elif abs(e) > abs(error[peaks[-1]]):
                peaks[-1] = k
        while len(peaks) > n:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        if len(peaks) < n:
            break
        at = [grid[k] for k in peaks]
    return c, max(abs(e) for e in error)


def literal(x):
    return float(x).hex()


def polynomial(name, f, degree, low, high, weight):
    c, worst = remez(f, degree, low, high, weight)
    print(f"{name} ({mpmath.nstr(worst, 2)}): {', '.join(literal(v) for v in c)}")


def parts(x, bits, count):
    """x as a sum of `count` numbers of that many bits, rounded down, and a rest."""
    out = []
    for _ in range(count):
        unit = mpf(2)**(bits - 1 - mpmath.floor(mpmath.log(abs(x), 2)))
        out.append(mpmath.floor(x * unit) / unit)
        x -= out[-1]
    return out + [x]


def erf_argument(t):
    return 3 * (1 + t) / (1 - t)


tiny, root = mpf(2)**-30, mpmath.sqrt
polynomial("exp", lambda r: (mpmath.exp(r) - 1 - r) / r**2 if abs(r) > 1e-9 else mpf(1) / 2, 9, -0.3475, 0.3475,
           lambda r: max(r**2, mpf("1e-6")))
polynomial("log", lambda z: (mpmath.log((1 + root(z)) / (1 - root(z))) / root(z) - 2) / z, 6, tiny, 0.02945, lambda z: z)
polynomial("sin", lambda t: (mpmath.sin(root(t)) / root(t) - 1) / t, 5, tiny, 0.6172, lambda t: t)
polynomial("cos", lambda t: (mpmath.cos(root(t)) - 1 + t / 2) / t**2, 5, mpf(2)**-20, 0.6172, lambda t: t**2)
polynomial("sinh", lambda t: (mpmath.sinh(root(t)) / root(t) - 1) / t, 7, tiny, 1.001, lambda t: t)
polynomial("asin", lambda t: (mpmath.asin(root(t)) / root(t) - 1) / t, 12, tiny, 0.2505, lambda t: t)
polynomial("atan", lambda t: (mpmath.atan(root(t)) / root(t) - 1) / t, 10, tiny, 0.1915, lambda t: t)
polynomial("log of pow", lambda r: (mpmath.log(1 + r) - r + r**2 / 2 - r**3 / 3) / r**4 if abs(r) > 1e-9 else -mpf(1) / 4,
           7, -mpf(1) / 30, mpf(1) / 28, lambda r: max(r**4, mpf("1e-12")))
polynomial("erf", lambda t: mpmath.erf(root(t)) / root(t) - 1, 12, tiny, 1.001, lambda t: mpf(1))
polynomial("erfc",
           lambda t: (1 + 2 * erf_argument(t)) * mpmath.exp(erf_argument(t)**2) * mpmath.erfc(erf_argument(t)), 12,
           -mpf(1) / 2, mpf(1) / 3,
           lambda t: mpmath.exp(-erf_argument(t)**2) / (1 + 2 * erf_argument(t)) + mpf(2)**-30)

inverse, log_hi, log_lo = [], [], []
for j in range(16):
    c = (24 + j) / mpf(32) if j < 8 else (8 + j) / mpf(16)
    edges = (c - 1 / mpf(64), c + 1 / mpf(64)) if j < 8 else (c - (1 / mpf(64) if j == 8 else 1 / mpf(32)), c + 1 / mpf(32))
    b = mpf(1) if j == 8 else mpmath.nint(2 / sum(edges) * 256) / 256
    h = mpmath.nint(-mpmath.log(b) * 2**42) / 2**42
    inverse.append(b)
    log_hi.append(h)
    log_lo.append(-mpmath.log(b) - h)
for name, values in (("inverse", inverse), ("log_hi", log_hi), ("log_lo", log_lo)):
    print(f"{name}: {', '.join(literal(v) for v in values)}")

for name, values in (("ln 2, 33 bits", parts(mpmath.log(2), 33, 1)), ("ln 2, 42 bits", parts(mpmath.log(2), 42, 1)),
                     ("ln 2", parts(mpmath.log(2), 53, 1)), ("pi / 2, 33 bits", parts(mp.pi / 2, 33, 3)),
                     ("pi / 2", parts(mp.pi / 2, 53, 1)), ("atan 1/2", parts(mpmath.atan(mpf(1) / 2), 53, 1))):
    print(f"{name}: {', '.join(literal(v) for v in values)}")

mp.prec = 1600
bits = int(mpmath.floor(2 / mp.pi * mpf(2)**1280))
print("2 / pi:", ", ".join(f"{bits >> 64 * (19 - k) & (1 << 64) - 1:#018x}" for k in range(20)))
