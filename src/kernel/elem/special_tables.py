"""Writes special_tables.c, the constants of the special functions: python3 special_tables.py > special_tables.c

Needs mpmath. Everything is derived here from the formulas that are named; DLMF is dlmf.nist.gov.
"""
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

mp.dps = 60


def literal(x):
    return repr(float(x))


def emit(name, dims, rows, comment):
    print(f"/* {comment} */")
    print(f"const double {name}{dims} = {{")
    for row in rows:
        text = ", ".join(literal(x) for x in row)
        print(f"    {{{text}}}," if "][" in dims else f"    {text},")
    print("};\n")


def chunks(values, n=4):
    return [values[i:i + n] for i in range(0, len(values), n)]


# ---- log ------------------------------------------------------------------------------------------------------------


def log_table():
    rows = []
    for j in range(90, 183):
        y = mp.log(mpf(j) / 128)
        hi = mpf(float(y))
        rows.append((hi, y - hi))
    return rows


# ---- 1 / gamma(1 + z), DLMF 5.7.1 --------------------------------------------------------------------------------------


def rgamma_series(n):
    return mpmath.taylor(lambda z: mpmath.rgamma(1 + z), 0, n - 1)


# ---- The uniform expansion of the incomplete gamma functions, DLMF 8.12.9 to 8.12.11 ------------------------------------


def series_mul(x, y, n):
    out = [Fraction(0)] * n
    for i, a in enumerate(x[:n]):
        for j, b in enumerate(y[:n - i]):
            out[i + j] += a * b
    return out


def series_inverse(x, n):
    out = [1 / x[0]]
    for k in range(1, n):
        out.append(-sum(x[j] * out[k - j] for j in range(1, k + 1)) / x[0])
    return out


def bernoulli(n):
    return Fraction(*mpmath.bernfrac(n))


def stirling_g(n):
    """g_k of DLMF 5.11.3: the exponential of the series 5.11.1."""
    log_series = [Fraction(0)] * n
    for k in range(1, n):
        if 2 * k - 1 < n:
            log_series[2 * k - 1] = bernoulli(2 * k) / (2 * k * (2 * k - 1))
    g = [Fraction(1)]
    for k in range(1, n):
        g.append(sum(j * log_series[j] * g[k - j] for j in range(1, k + 1)) / k)
    return g


def temme(n_k, n_eta):
    n = n_eta + 2 * n_k + 4
    a = [Fraction(0), Fraction(1)]  # mu = lambda - 1 as a series in eta, from mu mu' = eta (1 + mu)
    for k in range(2, n + 2):
        rest = sum(a[i] * a[k + 1 - i] for i in range(2, k)) * Fraction(k + 1, 2)
        a.append((a[k - 1] - rest) / (k + 1))
    over_mu = series_inverse(a[1:], n)  # eta / mu
    g = stirling_g(n_k + 1)
    rows = []
    c = [over_mu[i + 1] for i in range(n - 1)]  # c_0 = 1/mu - 1/eta
    rows.append(c[:n_eta])
    for k in range(1, n_k):
        slope = [(i + 1) * c[i + 1] for i in range(len(c) - 1)]
        times_eta = [slope[i] + (-1) ** k * g[k] * over_mu[i] for i in range(len(slope))]
        assert times_eta[0] == 0
        c = times_eta[1:]
        rows.append(c[:n_eta])
    return rows


# ---- Gauss-Legendre ------------------------------------------------------------------------------------------------------


def legendre(n):
    """The positive nodes of n points on [-1, 1], and their weights (DLMF 3.5.15)."""
    out = []
    for k in range(1, n // 2 + 1):
        x = mpmath.findroot(lambda t: mpmath.legendre(n, t), mp.cos(mp.pi * (k - mpf(1) / 4) / (n + mpf(1) / 2)))
        slope = n * (x * mpmath.legendre(n, x) - mpmath.legendre(n - 1, x)) / (x * x - 1)
        out.append((x, 2 / ((1 - x * x) * slope ** 2)))
    return out


# ---- Debye's polynomials, DLMF 10.41.9 --------------------------------------------------------------------------------------


def debye(n):
    """u_0 … u_(n-1): u_k(p) = p^k times a polynomial in p²; rows of that polynomial's coefficients."""
    u = [Fraction(1)]
    rows = [[Fraction(1)]]
    for _ in range(1, n):
        m = len(u)
        nxt = [Fraction(0)] * (m + 3)
        for i, c in enumerate(u):  # p²(1 - p²) u' / 2 + ∫(1 - 5 t²) u dt / 8
            nxt[i + 1] += c * i / 2 + c / (8 * (i + 1))
            nxt[i + 3] += -c * i / 2 - c * Fraction(5, 8) / (i + 3)
        u = nxt
        k = len(rows)
        rows.append([u[k + 2 * j] if k + 2 * j < len(u) else 0 for j in range(k + 1)])
    return [row + [Fraction(0)] * (n - len(row)) for row in rows]


# ---- Lambert's W at its branch point, Corless and others (1996), eq. 4.23 and 4.24 -----------------------------------------------


def lambert(n):
    mu, alpha = [Fraction(-1), Fraction(1)], [Fraction(2), Fraction(-1)]
    for k in range(2, n):
        alpha.append(sum(mu[j] * mu[k + 1 - j] for j in range(2, k)))
        head = Fraction(k - 1, k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4)
        mu.append(head - alpha[k] / 2 - mu[k - 1] / (k + 1))
    return mu


# ---- The exponential integral Ei -------------------------------------------------------------------------------------


def expi(n):
    """Chebyshev coefficients (the first one halved) of x exp(-x) Ei(x) in 1/x, on x from 3 to 6, 6 to 14 and 14 to 40."""
    rows = []
    for a, b in ((3, 6), (6, 14), (14, 40)):
        lo, hi = 1 / mpf(b), 1 / mpf(a)
        points = 4 * n
        c = [mpf(0)] * n
        for i in range(points):
            theta = mp.pi * (i + mpf(1) / 2) / points
            x = 1 / ((lo + hi + (hi - lo) * mp.cos(theta)) / 2)
            f = x * mp.exp(-x) * mpmath.ei(x)
            for k in range(n):
                c[k] += 2 * f * mp.cos(k * theta) / points
        c[0] /= 2
        rows.append(c)
    return rows


print('/* special_tables: constants of the special functions, written by special_tables.py. */')
print('#include "special_tables.h"\n')
print("/* clang-format off */")
emit("special_log_table", "[SPECIAL_LOGS][2]", log_table(), "log(j / 128), j = SPECIAL_LOG_FIRST …, as hi + lo")
emit("special_rgamma", "[SPECIAL_RGAMMAS]", chunks(rgamma_series(30)), "1 / gamma(1 + z) = sum of c[k] z^k (DLMF 5.7.1)")
emit("special_temme", "[SPECIAL_TEMME_K][SPECIAL_TEMME_ETA]", temme(12, 22),
     "c_k(eta) of DLMF 8.12.9 as series in eta")
emit("special_legendre", "[SPECIAL_LEGENDRE][2]", legendre(2 * 10), "Gauss-Legendre of 20 points: positive nodes, weights")
emit("special_debye", "[SPECIAL_DEBYE][SPECIAL_DEBYE]", debye(14), "u_k(p) / p^k of DLMF 10.41.9 as polynomials in p*p")
emit("special_lambert", "[SPECIAL_LAMBERTS]", chunks(lambert(30)), "W(x) in powers of sqrt(2 (e x + 1))")
emit("special_expi_series", "[SPECIAL_EXPI_PARTS][SPECIAL_EXPI]", expi(26),
     "Chebyshev coefficients of x exp(-x) Ei(x) in 1/x on [3, 6], [6, 14], [14, 40]")
print("/* clang-format on */")
