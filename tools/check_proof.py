#!/usr/bin/env python3
"""check_proof.py FILE...: checks the proof objects that mercer prove -o writes (docs/proofs.md), with Python alone and without a line of Mercer.

A proof is read step by step: each rule is a function below that says whether the step follows from the steps it names. Numbers are intervals of
rational numbers, exact wherever they are made by + - * / and whole powers. A refutation is evaluated anew at its points. Exit status 0: all hold; 1: some
does not; 3: some holds nothing to check (verdict unknown, texts)."""
import itertools
import json
import math
import re
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

INF = math.inf
LEAST = Fraction(1, 10**400)  # below every positive double
DIGITS = 120
MARGIN = Fraction(1, 10**90)  # more than what DIGITS digits leave


class Refused(Exception):
    """The proof does not hold."""


class Undecided(Exception):
    """Nothing that can be checked without data."""


# ---- intervals (lo, hi) of rational numbers, ends may be infinite

def times(a, b):
    return Fraction(0) if a == 0 or b == 0 else a * b


def point(a):
    return (Fraction(a), Fraction(a))


def add(a, b):
    return (a[0] + b[0], a[1] + b[1])


def neg(a):
    return (-a[1], -a[0])


def sub(a, b):
    return add(a, neg(b))


def mul(a, b):
    ends = [times(p, q) for p in a for q in b]
    return (min(ends), max(ends))


def inverse(a):
    if not (a[0] > 0 or a[1] < 0):
        return (-INF, INF)
    return tuple(sorted((Fraction(0) if abs(a[1]) == INF else 1 / a[1], Fraction(0) if abs(a[0]) == INF else 1 / a[0])))


def div(a, b):
    return mul(a, inverse(b))


def is_zero(a):
    return a[0] == 0 == a[1]


def whole_power(a, n):
    if n < 0:
        return inverse(whole_power(a, -n))
    ends = [e**n if abs(e) != INF else (INF if e > 0 or n % 2 == 0 else -INF) for e in a] if n else [Fraction(1)]
    return (Fraction(0) if n and n % 2 == 0 and a[0] < 0 < a[1] else min(ends), max(ends))


def decimal(a):
    return Decimal(a.numerator) / Decimal(a.denominator)


def widened(value):
    value = Fraction(value)
    return (value - abs(value) * MARGIN, value + abs(value) * MARGIN)


def monotone(f, a, low, high):
    """f of both ends, f increasing, in decimals."""
    with localcontext() as context:
        context.prec = DIGITS
        ends = [e if abs(e) == INF else widened(f(decimal(e)))[i] for i, e in enumerate(a)]
    return (low if ends[0] == -INF else ends[0], high if ends[1] == INF else ends[1])


def exp(a):
    if a[0] < -20000 or a[1] > 20000:
        low = Fraction(0) if a[0] < -20000 else exp(point(min(a[0], Fraction(20000))))[0]
        return (low, INF if a[1] > 20000 else exp(point(max(a[1], Fraction(-20000))))[1])
    return point(1) if is_zero(a) else monotone(lambda v: v.exp(), a, Fraction(0), INF)


def log(a):
    if not a[0] > 0:
        return (-INF, INF)
    return point(0) if a == point(1) else shift_of_log(a)


def shift_of_log(a):
    lo, hi = monotone(lambda v: v.ln(), a, -INF, INF)
    return (lo - MARGIN, hi + MARGIN)


def exact_root(a):
    n, d = math.isqrt(a.numerator), math.isqrt(a.denominator)
    return Fraction(n, d) if n * n == a.numerator and d * d == a.denominator else None


def sqrt(a):
    if a[1] < 0:
        raise Undecided("a root of what is negative")
    a = (max(a[0], Fraction(0)), a[1])
    if a[0] == a[1] and exact_root(a[0]) is not None:
        return point(exact_root(a[0]))
    return monotone(lambda v: v.sqrt(), a, Fraction(0), INF)


def power(a, p):
    """a^p: a > 0, or p whole."""
    p = Fraction(p)
    if p.denominator == 1:
        return whole_power(a, int(p))
    if p.denominator == 2 and a[0] >= 0:
        return whole_power(sqrt(a), p.numerator)
    if a[0] < 0:
        return (-INF, INF)
    return point(0) if is_zero(a) and p > 0 else exp(mul(log((max(a[0], LEAST), a[1])), point(p)))


def arctangent_of_inverse(n):
    terms = [Fraction((-1)**k, (2 * k + 1) * n**(2 * k + 1)) for k in range(160)]
    return sum(terms)


PI = widened(4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239)))


def sine_series(x):
    """On |x| < 4, in whole multiples of 10^-100, to which every term is rounded."""
    term = sum_of_terms = round(x * 10**100)
    square, k = term * term, 1
    while term:
        unit = 10**200 * (k + 1) * (k + 2)
        term = (unit - 2 * term * square) // (2 * unit)
        sum_of_terms, k = sum_of_terms + term, k + 2
    return Fraction(sum_of_terms, 10**100)


def sin(a):
    """Of a narrow interval, else [-1, 1]."""
    if abs(a[0]) == INF or abs(a[1]) == INF or a[1] - a[0] > 1 or abs(a[0]) > 10**20:
        return point(0) if is_zero(a) else (Fraction(-1), Fraction(1))
    middle = (a[0] + a[1]) / 2
    turns = round(middle / (2 * PI[0]))
    value = Fraction(round(sine_series(Fraction(round((middle - turns * 2 * PI[0]) * 10**100), 10**100)) * 10**100), 10**100)
    width = (a[1] - a[0]) / 2 + (abs(turns) + 1) * 10 * MARGIN
    return point(0) if is_zero(a) else (max(value - width, Fraction(-1)), min(value + width, Fraction(1)))


def cos(a):
    return point(1) if is_zero(a) else sin(add(a, mul(PI, point(Fraction(1, 2)))))


def tanh(a):
    if is_zero(a):
        return point(0)
    ends = [Fraction(1 if e > 0 else -1) if abs(e) > 9000 else None for e in a]
    values = [sub(point(1), div(point(2), add(exp(point(2 * e)), point(1)))) if s is None else point(s) for e, s in zip(a, ends)]
    return (values[0][0], values[1][1])


def size_of(a):
    return a if a[0] >= 0 else neg(a) if a[1] <= 0 else (Fraction(0), max(-a[0], a[1]))


# ---- functions by power series: increasing, logarithmic and arcsin everywhere, bessel_i0 from 0 on

def logarithmic(a):
    return neg(log(sub(point(1), a)))


def arcsin(a):
    if a[0] < -1 or a[1] > 1:
        return (-INF, INF)
    return point(0) if is_zero(a) else sub(div(PI, point(2)), angle(a))


def bessel_i0(a):
    def of(v):
        q, term, out, n = v * v / 4, Decimal(1), Decimal(0), 0
        while term > out * Decimal(10)**-(DIGITS - 10):
            out, n = out + term, n + 1
            term = term * q / (n * n)
        return out
    a = size_of(a)
    return monotone(of, a, Fraction(1), INF) if a[1] < 5000 else (Fraction(1), INF)


def inverse_of_odd(n):
    return Fraction(math.comb(n - 1, n // 2), 4**(n // 2) * n)


POWER_SERIES = {"logarithmic": (logarithmic, lambda n: Fraction(1, n) if n else 0), "arcsin": (arcsin, lambda n: inverse_of_odd(n) if n % 2 else 0),
                "bessel_i0": (bessel_i0, lambda n: 0 if n % 2 else Fraction(1, 4**(n // 2) * math.factorial(n // 2)**2))}


# ---- values and terms

def number(v):
    return isinstance(v, Fraction)


def span(v):
    """Every value a parameter may have."""
    if number(v):
        return (v, v)
    if isinstance(v, list):
        spans = [span(e) for e in v]
        return (min(s[0] for s in spans), max(s[1] for s in spans))
    if "auto" in v:
        return (LEAST, INF)
    if "times" in v:
        return mul(point(v["factor"]), span(v["times"]))
    if "range" in v or "set" in v:
        return span(v.get("range") or v["set"])
    raise Undecided(f"a value that is not here: {v}")


def key(t):
    if isinstance(t, dict):
        return tuple(sorted((k, key(v)) for k, v in t.items()))
    return tuple(key(e) for e in t) if isinstance(t, (list, tuple)) else t


def is_amount(t):
    return number(t) or "factor" in t or "auto" in t


def atom_of(t):
    return t.get("atom") if isinstance(t, dict) else None


def op_of(t):
    return t.get("op") if isinstance(t, dict) else None


def special_of(t):
    return t.get("special") if isinstance(t, dict) else None


LINEAR = {"atom": "linear"}
NOT_NUMBERS = ("atom", "function", "text")


def parameters(atom):
    return {k: v for k, v in atom.items() if k not in NOT_NUMBERS}


def all_positive(atom):
    return all(span(v)[0] > 0 for v in parameters(atom).values())


def all_fixed(atom):
    return all(number(v) for v in parameters(atom).values())


def whole(v):
    if isinstance(v, dict) and "range" in v:
        return all(e.denominator == 1 and e >= 0 for e in v["range"])  # a whole parameter takes whole values only
    values = v["set"] if isinstance(v, dict) and "set" in v else [v]
    return all(number(e) and e.denominator == 1 and e >= 0 for e in values)


# ---- positive semidefinite matrices of numbers

def is_psd(A):
    """Rational A by elimination without rounding, else by intervals with pivots that are surely positive."""
    A = [[e if isinstance(e, tuple) else point(e) for e in row] for row in A]
    n = len(A)
    if any(A[i][j] != A[j][i] for i in range(n) for j in range(i)):
        return False
    left = list(range(n))
    while left:
        k = max(left, key=lambda i: A[i][i][0])
        if is_zero(A[k][k]):
            return all(is_zero(A[i][j]) for i in left for j in left)
        if not A[k][k][0] > 0:
            return False
        left.remove(k)
        for i in left:
            for j in left:
                A[i][j] = sub(A[i][j], div(mul(A[i][k], A[k][j]), A[k][k]))
    return True


def is_matrix(A):
    return isinstance(A, list) and A and all(isinstance(r, list) and len(r) == len(A) for r in A)


# ---- one function under two names

def renamed(t):
    """The same function by a plainer name, where it has one."""
    name, exponent = atom_of(t), t["of"][0] if op_of(t) == "exp" else None
    if name == "rbf" and is_matrix(t.get("form")):
        c = t["form"][0][0]
        same = c > 0 and all(e == (c if i == j else 0) for i, row in enumerate(t["form"]) for j, e in enumerate(row))
        return {"atom": "rbf", "gamma": c} if same else t
    if name == "brownian" and t["hurst"] == 1:
        return LINEAR
    if op_of(t) == "power" and power_of_atom(t["of"][0], t["exponent"]) is not None:
        return power_of_atom(t["of"][0], t["exponent"])
    if op_of(t) == "power" and t["exponent"].denominator == 1 and bounds(t["of"][0])[1] < 0:
        raised = {"op": "power", "exponent": t["exponent"], "of": [negated(t["of"][0])]}
        return raised if t["exponent"] % 2 == 0 else negated(raised)
    if name == "power" and t["centred"] == 1 and number(t["p"]):  # |x|^p + |z|^p - |x-z|^p
        return {"op": "product", "of": [Fraction(2), renamed({"atom": "brownian", "hurst": t["p"] / 2})]}
    if name == "gibbs" and constant_function(t["function"]) is not None:
        f = constant_function(t["function"])
        gamma = Fraction(1, 2) / f[0]**2 if f[0] == f[1] > 0 else Fraction(1, 3)
        return {"atom": "rbf", "gamma": gamma} if is_double(gamma) else t
    if exponent is not None and op_of(exponent) == "product" and len(exponent["of"]) == 2 and number(exponent["of"][0]):
        return exp_of_power(*exponent["of"]) or t
    return exp_of_power(Fraction(1), exponent) or t if exponent is not None else t


def power_of_atom(t, p):
    """exp(-g d)^p; 1 and 0 to any power; (-|x-z|^q)^n for even n."""
    name = atom_of(t)
    if p <= 0 or name == "white":
        return t if p > 0 else None
    if p.denominator != 1 and name in ("exponential", "laplacian", "chi2") and number(t["gamma"]) and is_double(t["gamma"] * p):
        return t | {"gamma": t["gamma"] * p}
    even = p.denominator == 1 and p % 2 == 0 and name == "power" and t["centred"] == 0 and number(t["p"]) and t["p"] * p <= 2
    return negated(t | {"p": t["p"] * p}) if even and is_double(t["p"] * p) else None


def exp_of_log(c, atom):
    """(1 + |x-z|^2/l^2)^-c"""
    root = exact_root(atom["length_scale"]**2 / (2 * c)) if number(atom["length_scale"]) and c > 0 else None
    fits = atom["centred"] == 0 and atom["p"] == 2 and root is not None and is_double(root)
    return {"atom": "rq", "alpha": c, "length_scale": root} if fits else None


def exp_of_power(c, atom):
    """exp(-c |x-z|^p)"""
    if atom_of(atom) == "log":
        return exp_of_log(c, atom)
    if atom_of(atom) != "power" or atom["centred"] != 0 or c <= 0 or atom["p"] not in (1, 2):
        return None
    return {"atom": "rbf" if atom["p"] == 2 else "exponential", "gamma": c}


def is_double(v):
    return Fraction(float(v)) == v


# ---- an expression multiplied out: {monomial: factor}. A monomial is a set of (symbol, exponent), symbols being
#      ("p", g): a power of the generator g      ("r", g): exp(rate * g)      ("e", g): exp(-rate (|x|^2 + |z|^2)) in the view g
#      ("w", j): exp(-width (x_j - z_j)^2), j 0: over all columns      ("x", j), ("z", j): powers of a column

def is_linear_in_generators(monomial):
    return not monomial or [(s[0], e) for s, e in monomial] == [("p", point(1))]


class Expansion:
    def __init__(self, mode, columns=0, listed=0, order=0):
        self.mode, self.columns, self.listed, self.order, self.generators, self.unmerged, self.functions = mode, columns, listed, order, {}, 0, {}

    def put(self, out, monomial, factor):
        exponents = frozenset((s, e) for s, e in monomial.items() if not is_zero(e))
        if any(e[0] != e[1] for s, e in exponents):  # not known to be equal to any other
            self.unmerged += 1
            exponents |= {(("u", self.unmerged), point(1))}
        out[exponents] = add(out.get(exponents, point(0)), factor)
        if is_zero(out[exponents]):
            del out[exponents]
        if len(out) > 400:
            raise Refused("too large to multiply out")

    def multiply(self, a, b):
        out = {}
        for m, f in a.items():
            for k, g in b.items():
                exponents = dict(m)
                for s, e in k:
                    exponents[s] = add(exponents.get(s, point(0)), e)
                factor = mul(f, g)
                if self.mode == "unfolded":
                    factor = self.absorb(exponents, factor)
                if self.mode == "generators":
                    self.merge_exponentials(exponents)
                self.put(out, exponents, factor)
        return out

    def raised(self, a, n):
        out = {frozenset(): point(1)}
        for _ in range(n):
            out = self.multiply(out, a)
        return out

    def absorb(self, m, factor):
        """white times what is 1 on equal points is white."""
        whites = [s for s in m if s[0] == "p" and atom_of(self.generators[s[1]]) == "white"]
        if not whites:
            return factor
        for s in list(m):
            if s[0] == "e" and m.get(("r", s[1][1])) == mul(point(2), m[s]):
                del m[("r", s[1][1])], m[s]
            elif s[0] in "pr" and s not in whites and is_unit(self.generators[s[1]]):
                factor = mul(factor, exp(m[s])) if s[0] == "r" else factor
                del m[s]
        m[whites[0]] = point(1)
        return factor

    def merge_exponentials(self, m):
        """Powers of laplacian, exponential and chi2 that differ in gamma alone are one of them, where its gamma is a double."""
        families = {}
        for s, e in m.items():
            t = without_view(self.generators[s[1]]) if s[0] == "p" and e[0] > 0 else None
            if atom_of(t) in ("laplacian", "exponential", "chi2") and number(t["gamma"]):
                view = self.generators[s[1]].get("columns") if t is not self.generators[s[1]] else None
                families.setdefault((t["atom"], key(view)), []).append((s, e[0] * t["gamma"], e[0], view))
        for (name, _), members in families.items():
            gamma = sum(g for _, g, _, _ in members)
            if sum(e for _, _, e, _ in members) >= 2 and is_double(gamma):
                for s, *_ in members:
                    del m[s]
                m[("p", self.generator({"atom": name, "gamma": gamma}, members[0][3]))] = point(1)

    def generator(self, term, view):
        term = term if view is None else {"op": "columns", "columns": list(view), "of": [term]}
        self.generators[key(term)] = term
        return key(term)

    def leaf(self, term, view):
        return {frozenset({(("p", self.generator(term, view)), point(1))}): point(1)}

    def expand(self, t, view=None):
        t = renamed(t)
        if is_amount(t):
            value = span(t)
            return {} if is_zero(value) else {frozenset(): value}
        special = {"columns": self.in_columns, "unfolded": self.unfolded, "taylor": self.taylor, "taylor_gaussians": self.taylor, "polar": self.polar}.get(self.mode)
        found = special(t, view) if special else None
        if found is not None:
            return found
        method = getattr(self, "expand_" + str(op_of(t)), None)
        return method(t, view) if method else self.expand_atom(t, view)

    def expand_sum(self, t, view):
        out = {}
        for child in t["of"]:
            for m, f in self.expand(child, view).items():
                self.put(out, dict(m), f)
        return out

    def expand_product(self, t, view):
        out = {frozenset(): point(1)}
        for child in t["of"]:
            out = self.multiply(out, self.expand(child, view))
        return out

    def expand_power(self, t, view):
        p, base = t["exponent"], self.expand(t["of"][0], view)
        if len(base) == 1:
            (m, f), = base.items()
            if f[0] > 0 and all(s[0] in "rew" for s, e in m):
                out = {}
                self.put(out, {s: mul(e, point(p)) for s, e in m}, power(f, p))
                return out
        return self.raised(base, int(p)) if p.denominator == 1 and 0 <= p <= 64 else self.leaf(t, view)

    def expand_exp(self, t, view):
        constant, out, rates = point(0), {}, {}
        for m, f in self.expand(t["of"][0], view).items():
            symbols = list(m)
            if not symbols:
                constant = add(constant, f)
            elif len(symbols) == 1 and symbols[0][0][0] == "p" and symbols[0][1] == point(1):
                rates[("r", symbols[0][0][1])] = f
            else:
                return self.leaf(t, view)
        self.put(out, rates, exp(constant))
        return out

    def expand_weigh(self, t, view):
        value = constant_function(t["function"]) if "function" in t else None
        weight = {k: v for k, v in t.items() if k != "of"} | {"of": [Fraction(1)]}
        factor = self.leaf(weight, view) if value is None else {frozenset(): whole_power(value, 2)}
        return self.multiply(factor, self.expand(t["of"][0], view))

    def expand_columns(self, t, view):
        inner = t["columns"]
        if view is not None:
            if not all(number(j) and j <= len(view) for j in inner):
                return self.leaf(t, view)
            inner = [view[int(j) - 1] for j in inner]
        return self.expand(t["of"][0], [int(j) if number(j) else j for j in inner])

    def expand_atom(self, t, view):
        name = atom_of(t)
        if name == "rbf" and self.mode in ("gaussians", "taylor_gaussians") and "gamma" in t:
            return self.gaussian(t, view)
        if name == "poly" and all_fixed(t) and t["degree"].denominator == 1 and t["degree"] <= 64:
            scaled = {"op": "sum", "of": [{"op": "product", "of": [t["gamma"], LINEAR]}, t["c"]]}
            return self.raised(self.expand(scaled, view), int(t["degree"]))
        if name == "tanh" and is_zero(span(t["a"])):
            return {frozenset(): tanh(span(t["c"]))}
        return self.leaf(t, view)

    def gaussian(self, t, view):
        gamma, out = t["gamma"], {}
        columns = view if view is not None else list(range(1, len(gamma) + 1)) if isinstance(gamma, list) else None
        if isinstance(gamma, dict) or (isinstance(gamma, list) and len(gamma) != len(columns)) or any(isinstance(j, str) for j in columns or []):
            return self.leaf(t, view)
        widths = {("w", 0): point(gamma)} if columns is None else {}
        for i, j in enumerate(columns or []):
            width = gamma[i] if isinstance(gamma, list) else gamma
            widths[("w", j)] = add(widths.get(("w", j), point(0)), point(width))
        self.put(out, widths, point(1))
        return out

    # ---- V2: |x - z|^2 = |x|^2 - 2 <x, z> + |z|^2, and what normalize and arccos are

    def unfolded(self, t, view):
        if op_of(t) == "weigh":
            return self.unfolded_weigh(t, view)
        if op_of(t) == "normalize":
            return self.unfolded_normalize(t, view)
        if atom_of(t) == "rbf" and "gamma" in t and not isinstance(t["gamma"], dict):
            return self.unfolded_gaussian(t["gamma"], view)
        return self.unfolded_arccos(t, view) if atom_of(t) == "arccos" and number(t["order"]) else None

    def weight(self, dot, view, rate):
        return ("e", (key(list(view)) if view is not None else None, self.generator(dot, view))), rate

    def unfolded_gaussian(self, gamma, view):
        dot, rate = ({"dot": gamma}, Fraction(1)) if isinstance(gamma, list) else (LINEAR, gamma)
        symbol, value = self.weight(dot, view, point(rate))
        return {frozenset({(("r", self.generator(dot, view)), point(2 * rate)), (symbol, value)}): point(1)}

    def unfolded_weigh(self, t, view):
        f = t.get("function")
        if "gaussian" in t and not number(t["gaussian"]):
            return None
        found = (point(0), neg(span(t["gaussian"]))) if "gaussian" in t else \
            linear_in_norm2(f["of"][0]) if isinstance(f, dict) and f.get("function") == "exp" else None
        if found is None:
            return None
        symbol, rate = self.weight(LINEAR, view, neg(found[1]))
        factor = {frozenset({(symbol, rate)} if not is_zero(rate) else ()): exp(mul(point(2), found[0]))}
        return self.multiply(factor, self.expand(t["of"][0], view))

    def unfolded_normalize(self, t, view):
        inner = self.expand(t["of"][0], view)
        if len(inner) != 1:
            return None
        (m, f), = inner.items()
        out, factor = {}, point(1)
        if not f[0] > 0:
            return None
        for s, e in m:
            if s[0] == "e":
                continue
            if s[0] not in "pr" or not (is_unit(self.generators[s[1]]) or without_view(self.generators[s[1]]) == LINEAR):
                return None
            if is_unit(self.generators[s[1]]):
                factor = mul(factor, exp(neg(e))) if s[0] == "r" else factor
                out[s] = e
                continue
            own = self.generators[s[1]].get("columns")
            own = None if own is None else [int(j) if number(j) else j for j in own]
            if s[0] == "p":
                out[("p", self.generator({"atom": "cosine"}, own))] = e
            else:
                out[s] = e
                symbol, rate = self.weight(LINEAR, own, div(e, point(2)))
                out[symbol] = add(out.get(symbol, point(0)), rate)
        result = {}
        self.put(result, out, factor)
        return result

    def unfolded_arccos(self, t, view):
        half, order = point(Fraction(1, 2)), int(t["order"])
        mean = {m: half for m in self.leaf({"special": "sign_mean", "of": t}, view)}
        norms = {"op": "weigh", "function": {"function": "norm2"}, "of": [Fraction(1)]}
        first = {0: lambda: {frozenset(): half},
                 1: lambda: {m: half for m in self.leaf(LINEAR, view)},
                 2: lambda: {**self.raised(self.leaf(LINEAR, view), 2), **{m: half for m in self.leaf(norms, view)}}}[order]()
        return {**first, **mean}

    # ---- D3: the first terms of a power series, and what is left

    def remainder(self, t, at, view):
        return self.leaf({"remainder": t, "order": Fraction(self.order), "at": Fraction(at)}, view)

    def powers(self, k, factors):
        out, power = {}, {frozenset(): point(1)}
        for n, factor in enumerate(factors):
            power = self.multiply(power, k) if n else power
            for m, f in power.items():
                self.put(out, dict(m), mul(f, factor))
        return out

    def taylor(self, t, view):
        if op_of(t) == "exp":
            return self.taylor_exp(t, view)
        if op_of(t) in POWER_SERIES:
            factors = [point(POWER_SERIES[op_of(t)][1](n)) for n in range(self.order + 1)]
            return self.together(self.powers(self.expand(t["of"][0], view), factors), self.remainder(t, 0, view))
        if op_of(t) == "power" and t["exponent"] < 0:
            return self.taylor_inverse(t, view)
        if op_of(t) == "power" and t["exponent"] < 1:
            return self.taylor_root(t, view)
        if atom_of(t) == "spline":
            return {frozenset(): point(1), **self.expand(LINEAR, view), **self.remainder(t, 0, view)}
        if t == LINEAR and self.mode == "taylor":
            return self.split_linear(view)
        return None

    def constant_of(self, poly):
        c = poly.pop(frozenset(), point(0))
        return c[0] if c[0] == c[1] and Fraction(float(c[0])) == c[0] else None

    def taylor_exp_apart(self, t, view):
        """exp(a + b) = exp(a) exp(b), a the parts that are multiples of generators, b all others, and numbers; None: there are not both."""
        parts, others = [None, None], False
        for child in t["of"][0]["of"] if op_of(t["of"][0]) == "sum" else []:
            inner = self.expand(child, view)
            linear = all(is_linear_in_generators(m) for m in inner)
            to, others = int(not linear or not any(inner)), others or not linear
            parts[to] = child if parts[to] is None else {"op": "sum", "of": [parts[to], child]}
        return None if parts[0] is None or not others else self.multiply(*(self.expand({"op": "exp", "of": [p]}, view) for p in parts))

    def taylor_exp(self, t, view):
        apart = self.taylor_exp_apart(t, view)
        if apart is not None:
            return apart
        inner = self.expand(t["of"][0], view)
        if all(is_linear_in_generators(m) for m in inner):
            return self.taylor_rates(inner)
        c = self.constant_of(inner)
        if c is None:
            return self.leaf(t, view)
        out = self.powers(inner, [div(exp(point(c)), point(math.factorial(n))) for n in range(self.order + 1)])
        return self.together(out, self.remainder(t, c, view))

    def taylor_rates(self, inner):
        """exp of a constant and of multiples of generators, each apart."""
        out = {frozenset(): exp(inner.pop(frozenset(), point(0)))}
        for m, rate in inner.items():
            (s, _), = m
            if not (rate[0] == rate[1] > 0):
                out = self.multiply(out, {frozenset({(("r", s[1]), rate)}): point(1)})
                continue
            g = self.generators[s[1]]
            of = g if rate == point(1) else {"op": "product", "of": [rate[0], g]}
            one = self.powers({m: rate}, [point(Fraction(1, math.factorial(n))) for n in range(self.order + 1)])
            out = self.multiply(out, self.together(one, self.remainder({"op": "exp", "of": [of]}, 0, None)))
        return out

    def taylor_inverse(self, t, view):
        inner, a = self.expand(t["of"][0], view), -t["exponent"]
        if set(inner) == {frozenset()}:
            return {frozenset(): power(inner[frozenset()], -a)}
        c = self.constant_of(inner)
        if c is None or c <= 0:
            return self.leaf(t, view)
        factors = [mul(point(math.prod(a + k for k in range(n)) / (math.factorial(n) * c**n)), power(point(c), -a)) for n in range(self.order + 1)]
        return self.together(self.powers({m: neg(f) for m, f in inner.items()}, factors), self.remainder(t, c, view))

    def taylor_root(self, t, view):
        """c^a less the terms of (c - b)^n and what is left of them, all of which have one sign."""
        inner, a = self.expand(t["of"][0], view), t["exponent"]
        c = self.constant_of(inner) if len(inner) > 1 else None
        if c is None or c <= 0:
            return None
        front, factors = Fraction(1), []
        for n in range(self.order + 1):
            factors.append(mul(point(front), power(point(c), a)))
            front = -front * (a - n) / ((n + 1) * c)  # C(a, n) (-1)^n c^-n
        left = {m: neg(f) for m, f in self.remainder(t, c, view).items()}
        return self.together(self.powers({m: neg(f) for m, f in inner.items()}, factors), left)

    def together(self, *parts):
        out = {}
        for part in parts:
            for m, f in part.items():
                self.put(out, dict(m), f)
        return out

    def split_linear(self, view):
        columns = view if view is not None else list(range(1, self.listed + 1))
        if not 0 < len(columns) <= 4 or any(isinstance(j, str) for j in columns):
            return None
        parts = [self.leaf(LINEAR, [j]) for j in columns]
        if view is None and self.columns != self.listed:
            parts.append(self.leaf({"special": "rest_dot", "amount": Fraction(self.listed)}, None))
        return self.together(*parts)

    # ---- norms and cosines

    def polar(self, t, view):
        if op_of(t) == "weigh":
            found = power_of_norm(t["function"]) if "function" in t else None
            return None if found is None else self.multiply(self.norms_and_cosines(view, whole_power(found[0], 2), 0, found[1]), self.expand(t["of"][0], view))
        if t == LINEAR:
            return self.norms_and_cosines(view, point(1), 1, 1)
        if atom_of(t) == "arccos" and number(t["order"]):
            q = int(t["order"])
            parts = [self.norms_and_cosines(view, arccos_coefficient(q, n), n, q) for n in range(self.order + 1)]
            return self.together(*parts, self.remainder(t, 0, view))
        return self.taylor(t, view)

    def norms_and_cosines(self, view, factor, p, q):
        own = view
        symbols = {("p", self.generator({"atom": "cosine"}, own)): point(p)} if p else {}
        if q:
            symbols[("p", self.generator(NORM_WEIGHT, own))] = point(q)
        out = {}
        self.put(out, symbols, factor)
        return out

    # ---- P1: column by column

    def all_apart(self, view):
        return view is not None or 0 < self.columns == self.listed

    def in_columns(self, t, view):
        columns = view if view is not None else list(range(1, self.listed + 1))
        if any(isinstance(j, str) for j in columns):
            return None
        if t == LINEAR:
            out = {frozenset({(("x", j), point(1)), (("z", j), point(1))}): point(1) for j in set(columns)}
            if len(out) < len(columns):
                return None
            rest = {"special": "rest_dot", "amount": Fraction(self.listed)}
            return out if self.all_apart(view) else {**out, **self.leaf(rest, None)}
        if atom_of(t) == "form" and is_matrix(t["matrix"]) and len(t["matrix"]) == len(columns) == len(set(columns)):
            return {frozenset({(("x", columns[i]), point(1)), (("z", columns[j]), point(1))}): point(e)
                    for i, row in enumerate(t["matrix"]) for j, e in enumerate(row) if e != 0}
        if op_of(t) == "weigh" and "function" in t:
            left, right = (self.polynomial(t["function"], columns, view, side) for side in "xz")
            return None if left is None else self.multiply(self.multiply(left, right), self.expand(t["of"][0], view))
        return None

    def polynomial(self, f, columns, view, side):
        """A function of a row as a polynomial in its columns; None where it is none."""
        if number(f):
            return {frozenset(): point(f)} if f != 0 else {}
        if "column" in f:
            return {frozenset({((side, columns[int(f["column"]) - 1]), point(1))}): point(1)} if f["column"] <= len(columns) else None
        if f["function"] == "norm2":
            return {frozenset({((side, j), point(2))}): point(1) for j in columns} if self.all_apart(view) else \
                {frozenset({((side, self.leaf_function(f, view)), point(1))}): point(1)}
        if f["function"] in ("negate", "add", "subtract", "multiply", "divide", "power"):
            parts = [self.polynomial(g, columns, view, side) for g in f["of"]]
            found = None if None in parts else self.combined(f, parts)
            return found
        return {frozenset({((side, self.leaf_function(f, view)), point(1))}): point(1)}

    def leaf_function(self, f, view):
        """A function of the row that is no polynomial stands for a column."""
        name = ("function", key(f), None if view is None else tuple(view))
        self.functions[name] = f
        return name

    def without_sines(self, poly):
        """sin(f)^2 is 1 - cos(f)^2 where both occur."""
        for name, f in self.functions.items():
            partner = ("function", key({"function": "cos", "of": f["of"]}), name[2]) if f["function"] == "sin" else None
            for side in "xz" if partner in self.functions else "":
                while any(dict(m).get((side, name), point(0))[0] >= 2 for m in poly):
                    out = {}
                    for m, c in poly.items():
                        powers = dict(m)
                        if powers.get((side, name), point(0))[0] >= 2:
                            powers[(side, name)] = sub(powers[(side, name)], point(2))
                            self.put(out, dict(powers), c)
                            powers[(side, partner)] = add(powers.get((side, partner), point(0)), point(2))
                            c = neg(c)
                        self.put(out, powers, c)
                    poly = out
        return poly

    def combined(self, f, parts):
        name, a, b = f["function"], parts[0], parts[-1]
        if name in ("negate", "subtract"):
            b = {m: neg(c) for m, c in b.items()}
        if name in ("add", "subtract"):
            out = dict(a)
            for m, c in b.items():
                self.put(out, dict(m), c)
            return out
        if name in ("divide", "power"):
            last = b.get(frozenset(), point(0)) if set(b) <= {frozenset()} else None
            if last is None or (name == "power" and not (last[0] == last[1] and last[0].denominator == 1 and 0 <= last[0] <= 20)):
                return None
            return self.raised(a, int(last[0])) if name == "power" else {m: div(c, last) for m, c in a.items()}
        return b if name == "negate" else self.multiply(a, b)


def constant_function(f):
    if number(f):
        return point(f)
    if "column" in f or f["function"] in ("norm", "norm2"):
        return None
    of = [constant_function(g) for g in f.get("of", [])]
    return None if None in of else apply_function(f["function"], of)


def apply_function(name, of):
    return {"negate": neg, "add": add, "subtract": sub, "multiply": mul, "divide": div, "exp": exp, "log": log, "sqrt": sqrt, "sin": sin, "cos": cos,
            "tanh": tanh, "abs": size_of, "power": lambda a, b: power(a, b[0]) if b[0] == b[1] else (-INF, INF)}[name](*of)


NORM_WEIGHT = {"op": "weigh", "function": {"function": "norm"}, "of": [Fraction(1)]}


def power_of_norm(f):
    """(a, p) of f = a |x|^p with p whole, or None."""
    c = constant_function(f)
    if c is not None:
        return c, 0
    if "column" in f:
        return None
    name, of = f["function"], f.get("of", [])
    if name in ("norm", "norm2"):
        return point(1), 1 if name == "norm" else 2
    parts = [power_of_norm(g) for g in of]
    if name == "multiply" and None not in parts:
        return mul(parts[0][0], parts[1][0]), parts[0][1] + parts[1][1]
    if name == "divide" and None not in parts and parts[1][1] == 0:
        return div(parts[0][0], parts[1][0]), parts[0][1]
    if name == "power" and parts[0] is not None and number(of[1]) and of[1].denominator == 1 and 1 <= of[1] <= 8:
        return whole_power(parts[0][0], int(of[1])), parts[0][1] * int(of[1])
    return None


def arccos_coefficient(order, n):
    """Of t^n in (1/pi) J_order, where J_order'' or J_order' is a multiple of arcsin; J_0 = pi/2 + arcsin."""
    low = {0: {0: point(Fraction(1, 2))}, 1: {0: inverse(PI), 1: point(Fraction(1, 2))},
           2: {0: point(Fraction(1, 2)), 1: div(point(4), PI), 2: point(1)}}[order]
    k = n - order
    if n in low or k % 2 == 0:
        return low.get(n, point(0))
    arcsin = Fraction(math.comb(k - 1, (k - 1) // 2), 4**((k - 1) // 2) * k)
    return div(point((4 if order == 2 else 1) * arcsin / math.prod(k + i for i in range(1, order + 1))), PI)


def linear_in_norm2(f):
    """(a, b) of f = a + b |x|^2, or None."""
    c = constant_function(f)
    if c is not None:
        return c, point(0)
    if "column" in f:
        return None
    name, of = f["function"], f.get("of", [])
    if name == "norm2" or (name == "power" and of == [{"function": "norm"}, Fraction(2)]):
        return point(0), point(1)
    parts = [linear_in_norm2(g) for g in of]
    if None in parts or name not in ("negate", "add", "subtract", "multiply", "divide"):
        return None
    if name == "negate":
        return neg(parts[0][0]), neg(parts[0][1])
    if name in ("add", "subtract"):
        return tuple((add if name == "add" else sub)(p, q) for p, q in zip(*parts))
    for (a, b), other in (parts, parts[::-1]) if name == "multiply" else (parts,):
        if is_zero(other[1]):
            factor = other[0] if name == "multiply" else inverse(other[0])
            return mul(a, factor), mul(b, factor)
    return None


UNIT = {"rbf", "laplacian", "exponential", "matern", "rq", "periodic", "chi2", "tanimoto", "wendland", "sinc", "gibbs", "white"}


def without_view(t):
    return t["of"][0] if op_of(t) == "columns" else t


def is_unit(t):
    """1 on equal points."""
    return atom_of(without_view(t)) in UNIT


# ---- sums that give kernels

def is_weight(t):
    return op_of(without_view(t)) == "weigh" and without_view(t)["of"] == [1]  # f(x) f(z): a kernel


def kernel_exponents(m, skip=None):
    """Products of powers and exponentials of kernels, Gaussians and weights."""
    return all(s[0] in "eu" or s[1] == skip or (s[0] in "prw" and e[0] >= 0) for s, e in m)


def nonnegative(e, poly, sign=1, but_constant=False):
    factors = [(m, f if sign > 0 else neg(f)) for m, f in poly.items() if m or not but_constant]
    if any(f[1] < 0 or f[0] < 0 and not perhaps_zero(f) or not kernel_exponents(m) for m, f in factors):
        return False
    if any(f[0] < 0 for m, f in factors):
        raise Undecided("a factor that its digits do not tell from 0")
    return True


def perhaps_zero(f):
    """Roots that cancel, as in (1.1^0.5)^2 - 1.1: too narrow for anything else that digits would not show."""
    return f[0] <= 0 <= f[1] and f[1] - f[0] < 10**10 * MARGIN


def grouped(poly, is_own):
    groups = {}
    for m, f in poly.items():
        groups.setdefault(frozenset(p for p in m if not is_own(p[0])), []).append((dict(p for p in m if is_own(p[0])), f))
    return groups


def falling(n, m):
    return math.prod(range(n - m + 1, n + 1))


def taylor(term, n):
    """n! times the coefficient of g^n in c g^m exp(a g)."""
    c, m, a = term
    return point(0) if n < m else mul(mul(c, point(falling(n, m))), whole_power(a, n - m))


def outgrows(plus, minus, n):
    (c, m, a), (other, k, b) = plus, minus
    b = size_of(b)
    return a[0] >= b[1] and (k <= m or a[0] * (n + 1 - k) >= b[1] * (n + 1 - m))


def tail_holds(terms, n):
    """From n on, each term that may be negative is outweighed by those that never are (docs/proofs.md, D1)."""
    plus = [[t, taylor(t, n)[0]] for t in terms if t[0][0] > 0 and t[2][0] > 0]
    for t in terms:
        if is_zero(t[2]) or (t[0][0] >= 0 and t[2][0] >= 0):
            continue
        need = taylor((size_of(t[0]), t[1], size_of(t[2])), n)[1]
        for p in plus:
            if p[1] > 0 and outgrows(p[0], t, n):
                taken = min(p[1], need)
                p[1], need = p[1] - taken, need - taken
        if need > 0:
            return False
    return True


def series_holds(terms):
    degree = max(t[1] for t in terms)
    for n in range(150):
        if n > degree and tail_holds(terms, n):
            return True
        if sum((taylor(t, n)[0] for t in terms), Fraction(0)) < 0:
            return False
    return False


def is_series(e, poly):
    """No negative coefficient as a power series in one generator, with what multiplies it apart."""
    zero = point(0)
    return any(all(kernel_exponents(rest) and series_holds([(f, int(own.get(("p", g), zero)[0]), own.get(("r", g), zero)) for own, f in members])
                   for rest, members in around(poly, g).items()) for g in e.generators)


def around(poly, g):
    """By what multiplies the series in g. A rate of g that is known as an interval only does not set a monomial apart: series are asked about intervals."""
    groups = {}
    for m, f in poly.items():
        own = {s: e for s, e in m if s in (("p", g), ("r", g))}
        rest = {(s, e) for s, e in m if s not in own and s[0] != "u"}
        power = own.get(("p", g), point(0))
        if power[0] != power[1] or any(e[0] != e[1] for s, e in rest):
            rest |= {(s, e) for s, e in m if s[0] == "u"}
        groups.setdefault(frozenset(rest), []).append((own, f))
    return groups


def take_shares(members, share):
    """Each subtracted member takes what it needs of those added, one unit of which outweighs share(plus, minus) of it."""
    left = [max(f[0], 0) for own, f in members]
    for own, f in members:
        need = -f[0]
        for i, (other, g) in enumerate(members):
            if need > 0 and left[i] > 0:
                unit = share(other, own)
                taken = min(left[i] * unit, need)
                left[i], need = left[i] - (taken / unit if unit > 0 else 0), need - taken
        if need > 0:
            return False
    return True


def width_quotient(w, v):
    if is_zero(w) and is_zero(v):
        return point(1)
    return div(v, w) if v[0] > 0 and w[0] >= v[1] else None


def gaussian_share(plus, minus, d):
    """B3: how much of the Gaussian minus one of plus outweighs at every frequency of R^d."""
    listed = max([0] + [s[1] for s in (*plus, *minus)])
    common = [own.get(("w", 0), point(0)) for own in (plus, minus)]
    rest, product = width_quotient(*common), point(1)
    if (d == 0 and common[0] != common[1]) or (d > listed and rest is None) or 0 < d < listed:
        return Fraction(0)
    for j in range(1, listed + 1):
        q = width_quotient(*(add(c, own.get(("w", j), point(0))) for c, own in zip(common, (plus, minus))))
        if q is None:
            return Fraction(0)
        product = mul(product, q)
    if d > listed and common[0] != common[1]:
        product = mul(product, whole_power(rest, d - listed))
    return sqrt(product)[0]


def gaussians_hold(poly, d):
    return all(kernel_exponents(rest) and all(e[0] >= 0 for own, f in members for e in own.values())
               and take_shares(members, lambda p, m: gaussian_share(p, m, d))
               for rest, members in grouped(poly, lambda s: s[0] == "w").items())


# ---- B4: spectra. A member is (family, order, scale); its Fourier transform, up to one constant, see docs/proofs.md

STATIONARY = ("laplacian", "exponential", "matern", "rq", "periodic", "sinc")


def spectrum(e, own, d):
    parts = [(("w", 0), v) for s, v in own.items() if s == ("w", 0)] + [(s, v) for s, v in own.items() if s[0] != "w"]
    if not parts and not own:
        return ("constant", None, None)
    if len(own) != 1 or own != dict(parts):
        return None
    (s, v), = parts
    if s[0] == "w":
        return ("gaussian", None, v)
    return stationary_spectrum(e.generators[s[1]], v, d) if s[0] == "p" else None


def stationary_spectrum(t, n, d):
    name = atom_of(t)
    if not all_fixed(t):
        return None
    if name == "exponential" or (name == "laplacian" and d == 1):
        return ("matern", Fraction(1, 2), whole_power(mul(n, point(t["gamma"])), 2))
    if name == "laplacian":
        return ("laplacian", None, mul(n, point(t["gamma"])))
    if name == "periodic":
        return ("periodic", t["period"], div(n, point(t["length_scale"]**2)))
    if name == "matern" and t["nu"] == Fraction(1, 2):
        return ("matern", t["nu"], whole_power(div(n, point(t["length_scale"])), 2))
    if name == "sinc":
        return ("sinc", n[0], point(t["length_scale"])) if n in (point(1), point(2)) else None
    if n != point(1):
        return None
    if name == "matern":
        return ("matern", t["nu"], div(point(2 * t["nu"]), point(t["length_scale"]**2)))
    return ("rq", t["alpha"], point(2 * t["alpha"] * t["length_scale"]**2)) if name == "rq" else None


def bernoulli(n):
    """B_0 ... B_n."""
    b = [Fraction(1)]
    for m in range(1, n + 1):
        b.append(-sum(math.comb(m + 1, k) * b[k] for k in range(m)) / (m + 1))
    return b


STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(bernoulli(42)[::2]) if k]


def log_gamma(a):
    """Stirling's series at a + n; its error is between 0 and the first term that is left out."""
    shift = max(0, 70 - int(a))
    x = a + shift
    out = add(sub(mul(point(x - Fraction(1, 2)), log(point(x))), point(x)), div(log(mul(point(2), PI)), point(2)))
    out = add(out, point(sum(c / x**(2 * k + 1) for k, c in enumerate(STIRLING[:-1]))))
    last = abs(STIRLING[-1]) / x**(2 * len(STIRLING) - 1)
    product_of_shift = math.prod(a + k for k in range(shift))
    return sub(add(out, (-last, last)), log(point(product_of_shift)))


def gamma_quotient(a, b):
    """Gamma(a)/Gamma(b), exact where a - b is whole."""
    if (a - b).denominator == 1:
        steps = math.prod(min(a, b) + k for k in range(abs(int(a - b))))
        return point(steps if a >= b else 1 / Fraction(steps))
    return exp(sub(log_gamma(a), log_gamma(b)))


def density(kind, d, s):
    """The transform at |frequency|^2 = s, by pi^(d/2)."""
    family, nu, scale = kind
    if family == "gaussian":
        return mul(power(inverse(scale), Fraction(d, 2)), exp(neg(div(s, mul(point(4), scale)))))
    constant = mul(mul(point(2**d), gamma_quotient(nu + Fraction(d, 2), nu)), power(scale, nu))
    return mul(constant, power(inverse(add(scale, s)), nu + Fraction(d, 2)))


def least_quotient(p, q, d):
    """The infimum over frequencies of R^d of the quotient of transforms."""
    if p[0] == q[0] == "matern" and p[1] == q[1]:
        return min(power(div(q[2], p[2]), Fraction(d, 2))[0], power(div(p[2], q[2]), p[1])[0])
    zero, m = point(0), [k[1] + Fraction(d, 2) if k[1] is not None else None for k in (p, q)]
    at_zero = div(density(p, d, zero), density(q, d, zero))[0]
    if p[0] == q[0] == "gaussian":
        return at_zero if p[2][0] >= q[2][1] else Fraction(0)
    if p[0] == "gaussian":
        return Fraction(0)
    if q[0] == "matern" and p[1] > q[1]:
        return Fraction(0)
    turn = sub(mul(point(4 * m[0]), q[2]), p[2]) if q[0] == "gaussian" else \
        div(sub(mul(point(m[0]), q[2]), mul(point(m[1]), p[2])), point(m[1] - m[0]))
    turn = (max(turn[0], Fraction(0)), max(turn[1], Fraction(0)))
    return div(density(p, d, turn), density(q, d, turn))[0]


def mixture_share(p, q):
    """On every R^d, as mixtures of Gaussians."""
    if p[0] == q[0] in ("matern", "rq") and p[1] == q[1] and p[2][1] <= q[2][0]:
        return power(div(p[2], q[2]), p[1])[0]
    if p[0] == q[0] in ("matern", "rq") and p[1] < q[1] and p[2][1] < q[2][0]:
        return mixture_of_orders(p, q)
    return Fraction(0)


def mixture_of_orders(p, q):
    """The least of A t^-c exp(k t) over t > 0: A (e k/c)^c."""
    quarter = Fraction(1, 4) if p[0] == "matern" else Fraction(1)
    a, b, c = mul(p[2], point(quarter)), mul(q[2], point(quarter)), q[1] - p[1]
    before = mul(div(power(a, p[1]), power(b, q[1])), gamma_quotient(q[1], p[1]))
    return mul(before, power(mul(exp(point(1)), div(sub(b, a), point(c))), c))[0]


def bessel(k):
    """I0(k) of both ends; the terms that are left out are less than a geometric series."""
    ends = []
    for e in k:
        terms, term, n = Fraction(0), Fraction(1), 0
        while n < e or term > terms * MARGIN:
            terms, n = terms + term, n + 1
            term = Fraction(round(term * (e / 2)**2 / n**2 * 10**100), 10**100)
        ends.append((terms * (1 - MARGIN), (terms + 2 * term + n * MARGIN) * (1 + MARGIN)))
    return (ends[0][0], ends[1][1])


def mean_of_periodic(k):
    return mul(exp(neg(k)), bessel(k))


def sinc_share(p, q):
    """Of one column: the bands are |w| < order pi/length_scale; order 2 falls off linearly."""
    a, b = p[2][0], q[2][0]
    if p[1] / a < q[1] / b:
        return Fraction(0)
    return a / b * (1 - a / (2 * b) if p[1] == 2 and q[1] == 1 else 1)


def shorter(a):
    return (Fraction(math.floor(a[0] * 10**60), 10**60), Fraction(math.ceil(a[1] * 10**60), 10**60))


def rq_over_gaussian(p, q, d):
    """rq is the mean of exp(-u r^2) with the density b^alpha/Gamma(alpha) u^(alpha-1) exp(-b u): at the frequency s = 4 t the quotient of transforms is the mean of
    (g/u)^(d/2) exp(t (1/g - 1/u)), and on cells of u and steps of t each part is least at an end."""
    alpha, b, g = p[1], p[2], q[2]
    if g[0] != g[1] or b[0] != b[1]:
        return Fraction(0)
    g, m, half = g[0], alpha - 1 - Fraction(d, 2), Fraction(d, 2)
    ends, step, cells = [g * Fraction(9, 8)**n for n in range(-30, 31)], g / 8, []
    front = exp(add(sub(mul(point(alpha), log(b)), log_gamma(alpha)), mul(point(half), log(point(g)))))
    for u, v in zip(ends, ends[1:]):
        weight = min(power(point(e), m)[0] for e in (u, v)) * exp(point(-b[0] * v))[0] * (v - u) * front[0]
        rate = 1 / g - 1 / u
        cells.append([Fraction(math.floor(weight * 10**60), 10**60), shorter(exp(point(rate * step)))[0], rate > 0])
    least = None
    for k in range(65):
        after = [Fraction(math.floor(w * f * 10**60), 10**60) for w, f, grows in cells]
        here = sum((w if grows else 0 if k == 64 else n) for (w, f, grows), n in zip(cells, after))
        least = here if least is None else min(least, here)
        cells = [[n, f, grows] for (w, f, grows), n in zip(cells, after)]
    return least


def spectral_share(p, q, d):
    if p is None or q is None:
        return Fraction(0)
    if p == q:
        return Fraction(1)
    if q[0] == "sinc" and p[0] in ("matern", "gaussian", "laplacian") and d > 0:  # least at the corner of the band
        edge = div(mul(point(q[1]), PI), q[2])[1]
        return div(transform(p, d, [edge] * d), whole_power(q[2], d))[0]
    if p[0] == "sinc":
        return sinc_share(p, q)**d if q[0] == "sinc" and d > 0 else Fraction(0)
    if p[0] == "periodic" and d > 0:
        if q[0] == "constant":
            return whole_power(mean_of_periodic(p[2]), d)[0]
        fits = q[0] == "periodic" and p[1] == q[1] and p[2][0] >= q[2][1]
        return whole_power(div(mean_of_periodic(p[2]), mean_of_periodic(q[2])), d)[0] if fits else Fraction(0)
    if p[0] == "laplacian" and q[0] in ("laplacian", "gaussian") and d > 0:
        single = [("matern", Fraction(1, 2), whole_power(k[2], 2)) if k[0] == "laplacian" else k for k in (p, q)]
        return max(least_quotient(*single, 1), Fraction(0))**d
    if p[0] == "rq" and q[0] == "gaussian" and d > 0:
        return rq_over_gaussian(p, q, d)
    known = p[0] in ("matern", "gaussian") and q[0] in ("matern", "gaussian")
    return max(mixture_share(p, q), least_quotient(p, q, d) if known and d > 0 else Fraction(0))


def spectra_hold(e, poly, d):
    def own(s):
        return s[0] == "w" or (s[0] in "pr" and atom_of(e.generators[s[1]]) in STATIONARY)
    for rest, members in grouped(poly, own).items():
        kinds = [(spectrum(e, part, d), f) for part, f in members]
        fine = all(f[0] >= 0 and kernel_exponents(part.items()) or k is not None for (k, f), (part, _) in zip(kinds, members))
        if not (fine and kernel_exponents(rest)):
            return False
        if not (take_shares(kinds, lambda p, q: spectral_share(p, q, d)) or whole_transform_positive(kinds, d)):
            return False
    return True


def whole_transform_positive(members, d):
    """Gaussians and matern on R^d: their transforms fall with the frequency, so on a piece the sum is at least what is added at its upper end less
    what is subtracted at its lower one; from some frequency on one added term outweighs all that is subtracted."""
    if d < 1 or len(members) < 3 or any(k is None or k[0] not in ("gaussian", "matern") or not k[2][0] > 0 for k, f in members):
        return False
    added, subtracted = [m for m in members if m[1][0] >= 0], [m for m in members if not m[1][0] >= 0]

    def least(a, b):
        upper = total(mul(f, density(k, d, point(b * b))) for k, f in added)
        return add(upper, total(mul(f, density(k, d, point(a * a))) for k, f in subtracted))[0]

    def beyond(k, f, w):
        enough = add(mul(f, density(k, d, point(w * w))), total(mul(g, density(q, d, point(w * w))) for q, g in subtracted))
        return enough[0] >= 0 and all(falls_against(q, k, d, w * w) for q, g in subtracted)
    end = next((w for w in (Fraction(2)**n for n in range(-2, 14)) if any(beyond(k, f, w) for k, f in added)), None)
    pieces, left = 0, [] if end is None else [(Fraction(0), end)]
    while left and pieces < 3000:
        a, b = left.pop()
        pieces += 1
        if not least((a + b) / 2, (a + b) / 2) > 0:
            return False
        if not least(a, b) > 0:
            left += [(a, (a + b) / 2), ((a + b) / 2, b)]
    return end is not None and not left


def falls_against(q, p, d, s):
    """The quotient of transforms q/p falls from the squared frequency s on."""
    if p[0] == "gaussian":
        return q[0] == "gaussian" and p[2][0] >= q[2][1]
    mp = p[1] + Fraction(d, 2)
    if q[0] == "gaussian":
        return s + p[2][0] >= 4 * q[2][1] * mp
    mq = q[1] + Fraction(d, 2)
    return p[2][0] >= q[2][1] if mp == mq else mp < mq and mq * (p[2][0] + s) >= mp * (q[2][1] + s)


# ---- P1: forms in powers of columns

def forms_hold(poly):
    for rest, members in grouped(poly, lambda s: s[0] in "xz").items():
        sides = [tuple(frozenset((s[1], e) for s, e in own.items() if s[0] == side) for side in "xz") for own, f in members]
        names = sorted({n for pair in sides for n in pair}, key=lambda n: sorted(map(repr, n)))
        A = [[point(0)] * len(names) for _ in names]
        for (a, b), (own, f) in zip(sides, members):
            A[names.index(a)][names.index(b)] = f
        if not (kernel_exponents(rest) and is_psd(A)):
            return False
    return True


# ---- what a term can be worth

HALF_LINE = (Fraction(0), INF)
LINE = (-INF, INF)


def bounds(t, same=False):
    """Of every value; same: on equal points."""
    if is_amount(t):
        return span(t)
    name, op, of = atom_of(t), op_of(t), t.get("of")
    if name == "linear":
        return HALF_LINE if same else LINE
    if name == "cosine":
        return (Fraction(0 if same else -1), Fraction(1))
    if name in UNIT:
        return (Fraction(-1 if name == "sinc" else 0), Fraction(1)) if not same else point(1)
    if name in ("power", "log", "multiquadric") and not same:
        return LINE if t["centred"] else (-INF, -span(t["c"])[0]) if name == "multiquadric" else neg(HALF_LINE)
    if same and name in ("power", "log", "thin_plate", "multiquadric"):
        return HALF_LINE if t.get("centred") else neg(span(t["c"])) if name == "multiquadric" else point(0)
    if name == "tanh":
        return tanh(add(mul(span(t["a"]), HALF_LINE if same else LINE), span(t["c"])))
    if name == "poly" and all_fixed(t) and t["degree"].denominator == 1:
        return whole_power(add(mul(point(t["gamma"]), bounds(LINEAR, same)), point(t["c"])), int(t["degree"]))
    if name in ("intersection", "additive_chi2", "arccos", "spectrum", "words", "tfidf", "subsequence", "weighted_degree", "spline"):
        return HALF_LINE
    return bounds_of_operation(op, t, [bounds(c, same) for c in of], same) if op else LINE


def bounds_of_operation(op, t, of, same):
    if op == "columns":
        return of[0]
    if op == "normalize":
        return (Fraction(0 if of[0][0] >= 0 else -1), Fraction(1)) if same else LINE  # its sign, or 0
    if op in POWER_SERIES:
        return POWER_SERIES[op][0](of[0]) if -1 < of[0][0] and of[0][1] < 1 or op == "bessel_i0" else LINE
    if op == "exp":
        return exp(of[0])
    if op == "power":
        return power(of[0], t["exponent"])
    if op == "weigh":
        return HALF_LINE if of[0][0] >= 0 and (same or "gaussian" in t or nonnegative_function(t["function"])) else LINE
    total = of[0]
    for part in of[1:]:
        total = (add if op == "sum" else mul)(total, part)
    return total


def nonnegative_function(f):
    return function_bounds(f)[0] >= 0


def function_bounds(f):
    if number(f):
        return point(f)
    if "column" in f:
        return LINE
    name, of = f["function"], [function_bounds(g) for g in f.get("of", [])]
    if name in ("norm", "norm2", "sqrt", "abs"):
        return HALF_LINE
    if name in ("sin", "cos"):
        return (Fraction(-1), Fraction(1))
    if name == "power" and of[1][0] == of[1][1] and of[1][0] % 2 == 0:
        return HALF_LINE
    return apply_function(name, of)


# ---- the rules

class Step:
    def __init__(self, raw):
        self.states, self.term, self.rule = raw["states"], raw["term"], raw["rule"]
        self.d, self.premises = int(raw["columns"]), [int(p) for p in raw["premises"]]


class Proof:
    def __init__(self, steps):
        self.steps = steps

    def premise(self, step, i):
        return self.steps[step.premises[i] - 1]

    def says(self, premise, states, term, d):
        return premise.states in states and premise.d in (0, d) and key(premise.term) == key(term)

    def only(self, step, states, term, d=None):
        return len(step.premises) == 1 and self.says(self.premise(step, 0), states, term, step.d if d is None else d)

    def children(self, step, states, numbers_apart, any_number=False):
        rest = list(step.premises)
        for child in step.term["of"]:
            if numbers_apart and is_amount(child):
                if not any_number and not span(child)[0] >= 0:
                    return False
            elif not rest or not self.says(self.steps[rest.pop(0) - 1], states, child, step.d):
                return False
        return not rest

    def multiplied(self, step, term, test):
        """Some way to multiply out passes the test; every generator left is a kernel by a premise, and every premise is about one."""
        undecided = None
        for mode in ("generators", "gaussians", "unfolded"):
            e = Expansion(mode)
            try:
                poly = e.expand(term)
                if test(e, poly) and self.covers(step, e, poly):
                    return True
            except Refused:
                continue
            except Undecided as why:
                undecided = why
        if undecided:
            raise undecided
        return False

    def covers(self, step, e, poly, own=False):
        used = {s[1] for m in poly for s, _ in m if s[0] in "pr"}
        premises = [self.premise(step, i) for i in range(len(step.premises))]
        if any(key(p.term) not in used or p.states != "kernel" or p.d not in (0, step.d) for p in premises):
            return False
        stated = {key(p.term) for p in premises}
        return all(g in stated or is_weight(e.generators[g]) or (own and atom_of(e.generators[g]) in STATIONARY) for g in used)


KERNEL, NEGATIVE, POWERS = ("kernel",), ("negative",), ("powers",)
ORDERS = {"conditional": ("kernel", "conditional"), "conditional 2": ("kernel", "conditional", "conditional 2")}
TEXTS = ("spectrum", "subsequence", "weighted_degree", "words", "tfidf")
RULES = {}


def rule(states, *names):
    def keep(f):
        RULES.update({name: (states, f) for name in names})
        return f
    return keep


def child_of(proof, step, op, states):
    return op_of(step.term) == op and proof.only(step, states, step.term["of"][0])


@rule("kernel", "constant")
def constant(proof, step):
    return not step.premises and is_amount(step.term) and span(step.term)[0] >= 0


@rule("powers", "powers_constant")
def powers_constant(proof, step):
    return constant(proof, step)


@rule("kernel", "white", "linear", "precomputed", "user", "intersection", "tanimoto", "additive_chi2", "sinc", "spline", "gibbs", "spectrum", "text_features")
def given(proof, step):
    name = atom_of(step.term)
    named = name in TEXTS if step.rule == "text_features" else name == step.rule
    plain = step.rule != "spectrum" or span(step.term.get("mismatches", Fraction(0))) == point(0)
    return not step.premises and named and plain and (name in TEXTS + ("user",) or all_positive(step.term))


@rule("powers", "powers_white")
def powers_white(proof, step):
    return not step.premises and atom_of(step.term) == "white"


@rule("kernel", "dot")
def dot(proof, step):
    return not step.premises and "dot" in step.term and span(step.term["dot"])[0] >= 0


@rule("kernel", "form", "rbf_form")
def form(proof, step):
    name, parameter = ("form", "matrix") if step.rule == "form" else ("rbf", "form")
    A = step.term.get(parameter)
    return not step.premises and atom_of(step.term) == name and is_matrix(A) and step.d in (0, len(A)) and is_psd(A)


@rule("kernel", "arccos", "sign_mean")
def arccos(proof, step):
    t = step.term if step.rule == "arccos" else step.term.get("of", {})
    values = t.get("order", Fraction(9))
    values = values["set"] if isinstance(values, dict) else [values]
    fits = step.rule == "arccos" or special_of(step.term) == "sign_mean"
    return not step.premises and fits and atom_of(t) == "arccos" and all(v in (0, 1, 2) for v in values)


@rule("kernel", "harmonic", "rest")
def special(proof, step):
    return not step.premises and special_of(step.term) == {"harmonic": "harmonic", "rest": "rest_dot"}[step.rule]


@rule("kernel", "tanh")
def tanh_constant(proof, step):
    t = step.term
    return not step.premises and atom_of(t) == "tanh" and is_zero(span(t["a"])) and span(t["c"])[0] >= 0


@rule("kernel", "brownian")
def brownian(proof, step):
    hurst = span(step.term["hurst"])
    return not step.premises and atom_of(step.term) == "brownian" and 0 < hurst[0] and hurst[1] <= 1


@rule("kernel", "wendland")
def wendland(proof, step):
    t = step.term
    return not step.premises and atom_of(t) == "wendland" and 0 < step.d <= span(t["dimension"])[0] and span(t["length_scale"])[0] > 0 \
        and 0 <= span(t["k"])[0] and span(t["k"])[1] <= 2 and whole(t["k"])


@rule("kernel", "sum")
def sum_of(proof, step):
    return op_of(step.term) == "sum" and proof.children(step, KERNEL, False)


@rule("kernel", "product")
def product_of(proof, step):
    return op_of(step.term) == "product" and proof.children(step, KERNEL, True)


@rule("kernel", "power")
def whole_power_of(proof, step):
    return child_of(proof, step, "power", KERNEL) and whole(step.term["exponent"])


@rule("kernel", "exp", "normalize", "weigh")
def operation(proof, step):
    return child_of(proof, step, step.rule, KERNEL)


@rule("kernel", "power_series")
def power_series(proof, step):
    return op_of(step.term) in POWER_SERIES and proof.only(step, KERNEL, step.term["of"][0])


@rule("kernel", "mean_map")
def mean_of_rows(proof, step):
    t = step.term
    known = int(t["columns"]) if atom_of(t) == "mean_map" and number(t["columns"]) else 0
    return atom_of(t) == "mean_map" and len(t["of"]) == 1 and proof.only(step, KERNEL, t["of"][0], known)


@rule("kernel", "columns")
def columns_of(proof, step):
    return op_of(step.term) == "columns" and proof.only(step, KERNEL, step.term["of"][0], len(step.term["columns"]))


@rule("powers", "powers_columns")
def powers_columns(proof, step):
    return op_of(step.term) == "columns" and proof.only(step, POWERS, step.term["of"][0], len(step.term["columns"]))


def doubled(v, factor):
    return factor * v if number(v) else {"factor": Fraction(factor), "times": v}


def scaled_linear(amount):
    values = span(amount)
    return LINEAR if values == point(1) else {"op": "product", "of": [amount, LINEAR]}


@rule("kernel", "poly")
def poly(proof, step):
    t = step.term
    if atom_of(t) != "poly" or not whole(t["degree"]):
        return False
    gamma, c = (v if number(v) else doubled(v, 1) for v in (t["gamma"], t["c"]))
    inner = scaled_linear(gamma)
    return proof.only(step, KERNEL, inner if is_zero(span(c)) else {"op": "sum", "of": [inner, c]})


@rule("kernel", "rbf")
def rbf(proof, step):
    t = step.term
    if atom_of(t) != "rbf" or "gamma" not in t:
        return False
    once, twice = doubled(t["gamma"], 1), doubled(t["gamma"], 2)
    inner = {"dot": twice} if isinstance(t["gamma"], list) else scaled_linear(twice)
    return proof.only(step, KERNEL, {"op": "weigh", "gaussian": once, "of": [{"op": "exp", "of": [inner]}]})


@rule("kernel", "cosine")
def cosine(proof, step):
    return atom_of(step.term) == "cosine" and proof.only(step, KERNEL, LINEAR)


def minus_log(t):
    name = {"rbf": "scaled_square", "laplacian": "sum_distance", "exponential": "scaled_distance", "periodic": "circle_square", "chi2": "chi2_distance",
            "rq": "rq_log", "matern": "matern_log"}.get(atom_of(t))
    if atom_of(t) == "matern" and t["nu"] == Fraction(1, 2):
        name = "scaled_distance"
    return {"special": name, "of": t} if name and all_positive(t) else None


@rule("kernel", "schoenberg")
def schoenberg(proof, step):
    inside = minus_log(step.term)
    return inside is not None and proof.only(step, NEGATIVE, inside)


@rule("powers", "powers_atom")
def powers_atom(proof, step):
    return schoenberg(proof, step)


@rule("kernel", "monotone")
def completely_monotone(proof, step):
    t = step.term
    return atom_of(t) in ("matern", "rq") and all_positive(t) and proof.only(step, NEGATIVE, {"special": "scaled_square", "of": t})


@rule("negative", "square")
def square(proof, step):
    name, owner = special_of(step.term), step.term.get("of")
    owners = {"scaled_square": ("rbf", "exponential", "matern", "rq"), "circle_square": ("periodic",)}
    free = name in ("column_square", "distance_square")
    return not step.premises and (free or (name in owners and atom_of(owner) in owners[name] and all_positive(owner)))


@rule("negative", "root")
def root(proof, step):
    pair = {"column_distance": "column_square", "scaled_distance": "scaled_square"}.get(special_of(step.term))
    return pair is not None and proof.only(step, NEGATIVE, step.term | {"special": pair})


@rule("negative", "column_sum")
def column_sum(proof, step):
    t = step.term
    return special_of(t) == "sum_distance" and atom_of(t["of"]) == "laplacian" and all_positive(t["of"]) \
        and proof.only(step, NEGATIVE, {"special": "column_distance"})


@rule("negative", "chi2")
def chi2(proof, step):
    t = step.term
    return special_of(t) == "chi2_distance" and atom_of(t["of"]) == "chi2" and all_positive(t["of"]) and proof.only(step, KERNEL, {"special": "harmonic"})


@rule("negative", "log")
def minus_log_of(proof, step):
    owner = {"rq_log": "rq", "matern_log": "matern"}.get(special_of(step.term))
    t = step.term.get("of")
    return owner is not None and atom_of(t) == owner and all_positive(t) and proof.only(step, NEGATIVE, {"special": "scaled_square", "of": t})


def psi_parameters(t):
    if atom_of(t) == "multiquadric":
        return span(t["c"])[0] > 0
    return atom_of(t) in ("power", "log") and 0 < span(t["p"])[0] and span(t["p"])[1] <= 2 and span(t.get("length_scale", Fraction(1)))[0] > 0


@rule("negative", "bernstein")
def bernstein(proof, step):
    return special_of(step.term) == "distance_psi" and psi_parameters(step.term["of"]) and proof.only(step, NEGATIVE, {"special": "distance_square"})


def from_psi(proof, step, centred):
    t = step.term
    return atom_of(t) in ("power", "log", "multiquadric") and t["centred"] == centred and proof.only(step, NEGATIVE, {"special": "distance_psi", "of": t})


@rule("kernel", "centred")
def centred(proof, step):
    return from_psi(proof, step, 1)


@rule("conditional", "conditional_atom")
def conditional_atom(proof, step):
    return from_psi(proof, step, 0)


@rule("conditional 2", "thin_plate")
def thin_plate(proof, step):
    return not step.premises and atom_of(step.term) == "thin_plate"


def conditional_sum(proof, step):
    if is_amount(step.term):
        return not step.premises
    return op_of(step.term) == "sum" and proof.children(step, ORDERS[step.states], True, any_number=True)


def conditional_multiple(proof, step):
    return op_of(step.term) == "product" and len(step.premises) == 1 and proof.children(step, ORDERS[step.states], True)


def conditional_columns(proof, step):
    t = step.term
    return op_of(t) == "columns" and proof.only(step, ORDERS[step.states], t["of"][0], len(t["columns"]))


for order, infix in (("conditional", ""), ("conditional 2", "2_")):
    rule(order, f"conditional_{infix}sum")(conditional_sum)
    rule(order, f"conditional_{infix}multiple")(conditional_multiple)
    rule(order, f"conditional_{infix}columns")(conditional_columns)


def negated(t):
    """Minus a term, the sign inside sums and before products."""
    if is_amount(t):
        return -t if number(t) else t | {"factor": -t["factor"]}
    if op_of(t) == "sum":
        return t | {"of": [negated(c) for c in t["of"]]}
    if op_of(t) == "product" and is_amount(t["of"][0]):
        lead, *rest = t["of"]
        return rest[0] if lead == -1 and len(rest) == 1 else t | {"of": [negated(lead), *rest]}
    return {"op": "product", "of": [Fraction(-1), t]}


@rule("conditional", "conditional_bernstein")
def conditional_bernstein(proof, step):
    """-a b^p, a >= 0, 0 < p <= 1, b >= 0 unless p = 1; -b is conditionally positive."""
    t = step.term
    if op_of(t) != "product" or len(t["of"]) != 2 or not is_amount(t["of"][0]) or span(t["of"][0])[1] > 0:
        return False
    base = t["of"][1]
    if op_of(base) == "power" and base["exponent"] < 1:
        if base["exponent"] <= 0 or bounds(base["of"][0], same=True)[0] < 0:
            return False
        base = base["of"][0]
    return proof.only(step, ("conditional",), negated(base))


def inverse_of_conditional(proof, step):
    t = step.term
    return op_of(t) == "power" and t["exponent"] < 0 and bounds(t["of"][0], same=True)[0] > 0 and proof.only(step, ("conditional",), negated(t["of"][0]))


rule("kernel", "inverse_conditional")(inverse_of_conditional)
rule("powers", "powers_inverse")(inverse_of_conditional)


@rule("kernel", "exp_conditional")
def exp_conditional(proof, step):
    return child_of(proof, step, "exp", ("conditional",))


@rule("powers", "powers_exp_conditional")
def powers_exp_conditional(proof, step):
    return exp_conditional(proof, step)


@rule("powers", "powers_minimum")
def powers_minimum(proof, step):
    """On one column min(x, z)^p = min(x^p, z^p), and so is min/max."""
    return not step.premises and atom_of(step.term) in ("intersection", "tanimoto") and step.d == 1


@rule("powers", "powers_product")
def powers_product(proof, step):
    return op_of(step.term) == "product" and proof.children(step, POWERS, False)


@rule("powers", "powers_power")
def powers_power(proof, step):
    return child_of(proof, step, "power", POWERS) and step.term["exponent"] > 0


@rule("powers", "powers_weigh")
def powers_weigh(proof, step):
    return child_of(proof, step, "weigh", POWERS) and ("gaussian" in step.term or nonnegative_function(step.term["function"]))


@rule("powers", "powers_normalize")
def powers_normalize(proof, step):
    return child_of(proof, step, "normalize", POWERS)


@rule("kernel", "real_power")
def real_power(proof, step):
    return child_of(proof, step, "power", POWERS) and step.term["exponent"] > 0


@rule("kernel", "collect", "unfold")
def collect(proof, step):
    return proof.multiplied(step, step.term, nonnegative)


@rule("kernel", "series", "unfold_series")
def series(proof, step):
    return proof.multiplied(step, step.term, is_series)


@rule("kernel", "exp_shift")
def exp_shift(proof, step):
    return op_of(step.term) == "exp" and proof.multiplied(step, step.term["of"][0], lambda e, p: nonnegative(e, p, but_constant=True))


@rule("powers", "powers_exp")
def powers_exp(proof, step):
    return exp_shift(proof, step)


@rule("kernel", "inverse")
def inverse_power(proof, step):
    t = step.term
    return op_of(t) == "power" and t["exponent"] < 0 and bounds(t["of"][0], same=True)[0] > 0 \
        and proof.multiplied(step, t["of"][0], lambda e, p: nonnegative(e, p, -1, True))


def spread(proof, step, test, own=False):
    e = Expansion("gaussians")
    poly = e.expand(step.term)
    return test(e, poly) and proof.covers(step, e, poly, own)


@rule("kernel", "gaussians")
def gaussians(proof, step):
    return spread(proof, step, lambda e, p: gaussians_hold(p, step.d))


@rule("kernel", "spectra")
def spectra(proof, step):
    return spread(proof, step, lambda e, p: spectra_hold(e, p, step.d), True)


def mentioned(t):
    """The largest column that is named outside views of fewer columns."""
    if is_amount(t):
        return 0
    if op_of(t) == "columns":
        return max(int(j) for j in t["columns"]) if all(number(j) for j in t["columns"]) else 0
    own = [named_column(t["function"])] if op_of(t) == "weigh" and "function" in t else [0]
    if atom_of(t) == "form" and is_matrix(t["matrix"]):
        own.append(len(t["matrix"]))
    return max(own + [mentioned(c) for c in (t.get("of", []) if op_of(t) else [])])


def named_column(f):
    if number(f):
        return 0
    return int(f["column"]) if "column" in f else max([0] + [named_column(g) for g in f.get("of", [])])


@rule("kernel", "column_forms")
def column_forms(proof, step):
    for listed in {step.d if 0 < step.d <= 6 else mentioned(step.term), mentioned(step.term)}:
        e = Expansion("columns", step.d, listed)
        poly = e.without_sines(e.expand(step.term))
        if forms_hold(poly) and proof.covers(step, e, poly):
            return True
    return False


# ---- B7: the sphere

def times_cosine(v, d):
    """t times a sum of v_k P_k, P_k Gegenbauer's polynomials of R^d divided by their values at 1."""
    out = [point(0)] * (len(v) + 1)
    for k, c in enumerate(v):
        up = Fraction(1) if k == 0 else Fraction(k + d - 2, 2 * k + d - 2)
        out[k + 1] = add(out[k + 1], mul(point(up), c))
        if k:
            out[k - 1] = add(out[k - 1], mul(point(1 - up), c))
    return out


def sphere_coefficients(coefficients, d):
    v = []
    for c in reversed(coefficients):
        v = times_cosine(v, d) if v else []
        v = [add(v[0], c), *v[1:]] if v else [c]
    return v


def sphere_terms_hold(terms, d, zero_apart):
    first = max(t[1] for t in terms) + 1
    start = next((n for n in range(first, 60) if tail_holds(terms, n)), None)
    if start is None:
        return False

    def coefficient(n):
        total_of = point(0)
        for t in terms:
            total_of = add(total_of, taylor(t, n))
        return div(total_of, point(math.factorial(n)))
    for last in (start, 60):
        c = [coefficient(n) for n in range(last)]
        at_zero = c[0]
        if zero_apart:
            c[0] = point(0)
        if all(v[0] >= 0 for v in sphere_coefficients(c, d)) and (not zero_apart or at_zero[0] >= 0):
            return True
    return False


def is_on_sphere(e, poly, d):
    for g, t in e.generators.items():
        if atom_of(without_view(t)) != "cosine":
            continue
        columns = len(t["columns"]) if op_of(t) == "columns" else d
        norm = key(t | {"of": [NORM_WEIGHT]}) if op_of(t) == "columns" else key(NORM_WEIGHT)
        zero = point(0)
        if columns and all(kernel_exponents(rest) and sphere_terms_hold(
                [(f, int(own.get(("p", g), zero)[0]), own.get(("r", g), zero)) for own, f in members], columns, not any(s == ("p", norm) for s, _ in rest))
                for rest, members in grouped(poly, lambda s, g=g: s in (("p", g), ("r", g))).items()):
            return True
    return False


@rule("kernel", "sphere")
def sphere(proof, step):
    return proof.multiplied(step, step.term, lambda e, p: is_on_sphere(e, p, step.d))


# ---- S11: k(x, z) - c f(x) f(z) where f(x) = s k(x, 0). Functions of x are {monomial: factor}, a monomial being a set of (symbol, exponent), symbols
#      (j, 0): a power of |x| (j = 0) or |x_j|      (j, q): exp(rate |x_j|^q), q 1 or 2      ("b", b): a power of 1 + b |x|^2

ONE = {frozenset(): point(1)}


def monomial(symbol, exponent, factor=1):
    return {frozenset({(symbol, Fraction(exponent))}): point(factor)}


def section_sum(*parts):
    out = {}
    for part in parts:
        for m, c in part.items():
            out[m] = add(out.get(m, point(0)), c)
    return {m: c for m, c in out.items() if not is_zero(c)}


def section_product(*parts):
    out = ONE
    for part in parts:
        made = []
        for m, c in out.items():
            for n, e in part.items():
                exponents = dict(m)
                for s, v in n:
                    exponents[s] = exponents.get(s, 0) + v
                made.append({frozenset((s, v) for s, v in exponents.items() if v): mul(c, e)})
        out = section_sum(*made)
    return out


def section_power(a, p):
    if p.denominator == 1 and 0 <= p <= 8:
        return section_product(*[a] * int(p))
    square, plain = frozenset({((0, 0), Fraction(2))}), frozenset()
    if set(a) == {square, plain} and a[plain][0] == a[plain][1] > 0 and a[square][0] == a[square][1]:
        return {frozenset({(("b", a[square][0] / a[plain][0]), p)}): power(a[plain], p)}
    if len(a) != 1 or not next(iter(a.values()))[0] > 0:
        raise Undecided("a power of this function")
    (m, c), = a.items()
    return {frozenset((s, v * p) for s, v in m): power(c, p)}


def section_exp(a):
    out = ONE
    for m, c in a.items():
        if not m:
            out = section_product(out, {frozenset(): exp(c)})
            continue
        if len(m) != 1 or c[0] != c[1]:
            raise Undecided("an exponential of this function")
        ((j, kind), v), = m
        if kind != 0 or v not in (1, 2):
            raise Undecided("an exponential of this function")
        out = section_product(out, monomial((j, int(v)), c[0]))
    return out


class Sight:
    """The columns that are seen: all d (0: any number), or one."""
    def __init__(self, d, column=None):
        self.d, self.column, self.norm = d, column, 0 if column is None or d == 1 else column

    def symbol(self, j):
        return (self.norm if self.column is not None or self.d == 1 else int(j), 0)


def section_of_function(f, s):
    if number(f):
        return {frozenset(): point(f)} if f else {}
    name, of = f.get("function"), f.get("of", [])
    column = of[0].get("column") if of and isinstance(of[0], dict) else None
    if name in ("norm", "norm2"):
        return monomial((s.norm, 0), 1 if name == "norm" else 2)
    if name == "abs" and column:
        return monomial(s.symbol(column), 1)
    if name == "power" and column and number(of[1]) and of[1] % 2 == 0:
        return monomial(s.symbol(column), of[1])
    parts = [section_of_function(g, s) for g in of if not (name == "power" and g is of[1])]
    minus = {frozenset(): point(-1)}
    ways = {"add": lambda: section_sum(*parts), "subtract": lambda: section_sum(parts[0], section_product(minus, parts[1])),
            "multiply": lambda: section_product(*parts), "divide": lambda: section_product(parts[0], section_power(parts[1], Fraction(-1))),
            "negate": lambda: section_product(minus, parts[0]), "sqrt": lambda: section_power(parts[0], Fraction(1, 2)),
            "power": lambda: section_power(parts[0], of[1]), "exp": lambda: section_exp(parts[0])}
    if name not in ways or (name == "power" and not number(of[1])):
        raise Undecided("a function that is not compared")
    return ways[name]()


def value_at_zero(f):
    if any(kind == 0 and v < 0 for m in f for (j, kind), v in m if j != "b"):
        raise Undecided("a function without a value at 0")
    return total([point(0)] + [c for m, c in f.items() if all(j == "b" or kind for (j, kind), v in m)])


def section(t, s):
    """t(x, 0)"""
    if number(t):
        return {frozenset(): point(t)} if t else {}
    name, op, of = atom_of(t), op_of(t), t.get("of")
    if name and not all_fixed(t):
        raise Undecided("open parameters")
    norm = (s.norm, 0)
    if name in ("linear", "cosine", "brownian"):
        return {}
    if name == "poly":
        return {frozenset(): power(point(t["c"]), t["degree"])} if t["c"] else {}
    if name in ("rbf", "exponential") or (name == "laplacian" and (s.d == 1 or s.column is not None)):
        return section_exp(monomial(norm, 2 if name == "rbf" else 1, -t["gamma"]))
    if name == "laplacian" and s.d > 0:
        return section_exp(section_sum(*[monomial((j, 0), 1, -t["gamma"]) for j in range(1, s.d + 1)]))
    if name == "rq" and s.norm == 0:
        return section_power(section_sum(ONE, monomial(norm, 2, 1 / (2 * t["alpha"] * t["length_scale"]**2))), -t["alpha"])
    if name == "matern" and t["nu"] == Fraction(1, 2):
        return section_exp(monomial(norm, 1, -1 / t["length_scale"]))
    if op in ("sum", "product"):
        return (section_sum if op == "sum" else section_product)(*[section(c, s) for c in of])
    if op == "power":
        return section_power(section(of[0], s), t["exponent"])
    if op == "exp":
        return section_exp(section(of[0], s))
    if op == "weigh" and "function" in t:
        f = section_of_function(t["function"], s)
        return section_product(section(of[0], s), f, {frozenset(): value_at_zero(f)})
    if op == "columns" and s.column is None and len(t["columns"]) == 1 and number(t["columns"][0]):
        return section(of[0], Sight(s.d, int(t["columns"][0])))
    raise Undecided("a kernel whose value at 0 is not known")


def outer_product(t, s):
    """(c, f) of c f(x) f(z); None: something else."""
    c, f = point(1), ONE
    for part in t["of"] if op_of(t) == "product" else [t]:
        weigh = op_of(part) == "weigh" and "function" in part
        inside = part["of"][0] if weigh else part
        if op_of(inside) == "power" and number(inside["of"][0]):
            c = mul(c, power(point(inside["of"][0]), inside["exponent"]))
        elif number(inside):
            c = mul(c, point(inside))
        else:
            return None
        f = section_product(f, section_of_function(part["function"], s)) if weigh else f
    return c, f


def summed(terms):
    return terms[0] if len(terms) == 1 else {"op": "sum", "of": terms}


def is_conditioned(k, c, f):
    if not f or f.keys() != k.keys():
        return False
    quotients = [div(f[m], k[m]) for m in f]
    if any(q[0] != q[1] for q in quotients + [c]):
        raise Undecided("factors that are not rational")
    return len(set(quotients)) == 1 and mul(mul(neg(c), whole_power(quotients[0], 2)), value_at_zero(k))[1] <= 1


@rule("kernel", "conditioned")
def conditioned(proof, step):
    t, s = step.term, Sight(step.d)
    for i, child in enumerate(t["of"] if op_of(t) == "sum" else []):
        found = outer_product(child, s)
        if not found or not found[0][1] < 0:
            continue
        rest = t["of"][:i] + t["of"][i + 1:]
        premises = [proof.premise(step, n).term for n in range(len(step.premises))]
        if len(premises) == 1 and key(premises[0]) != key(summed(rest)):
            continue
        if len(premises) == 2 and not any(key(k) == key(premises[0]) and key(summed(rest[:n] + rest[n + 1:])) == key(premises[1]) for n, k in enumerate(rest)):
            continue
        if 0 < len(premises) < 3 and is_conditioned(section(premises[0], s), *found):
            return all(proof.says(proof.premise(step, n), KERNEL, k, step.d) for n, k in enumerate(premises))
    return False


# ---- D3

@rule("kernel", "taylor")
def taylor_rule(proof, step):
    ways = [("taylor", n) for n in (0, 1, 2, 4, 8)] + [("taylor_gaussians", n) for n in (1, 2, 3)] + [("polar", n) for n in (0, 1, 2, 4, 8, 12, 20)]
    for mode, order in ways:
        e = Expansion(mode, step.d, mentioned(step.term) if mode == "taylor" else 0, order)
        try:
            poly = e.expand(step.term)
        except Refused:
            continue
        tests = [nonnegative] + {"taylor": [is_series], "taylor_gaussians": [lambda e, p: gaussians_hold(p, step.d), lambda e, p: spectra_hold(e, p, step.d)],
                                 "polar": [lambda e, p: is_on_sphere(e, p, step.d)]}[mode]
        if any(test(e, poly) for test in tests) and proof.covers(step, e, poly, True):
            return True
    return False


def remainder_has_one_sign(a, least):
    return least > 0 if a < 0 else 0 < a < 1 and least >= 0


@rule("kernel", "remainder")
def remainder(proof, step):
    t = step.term.get("remainder")
    at, order = step.term.get("at"), step.term.get("order")
    if t is None or order < 0 or order.denominator != 1:
        return False
    if atom_of(t) == "spline" or (atom_of(t) == "arccos" and t["order"] in (0, 1, 2)):
        return not step.premises
    if op_of(t) == "exp" or (op_of(t) in POWER_SERIES and at == 0):
        kernel, c = t["of"][0], -at
    elif op_of(t) == "power" and at > 0 and remainder_has_one_sign(t["exponent"], bounds(t["of"][0], same=True)[0]):
        kernel, c = negated(t["of"][0]), at
    else:
        return False
    return proof.only(step, KERNEL, kernel if c == 0 else {"op": "sum", "of": [kernel, c]})


# ---- D4: sums of power series in one kernel, coefficient by coefficient

class Sequence:
    """factor t^p f(r t^q): f_j for j = first, first + step, ..., and the quotient of two of them as linear factors (a, b) of a j + b, above and below."""
    FORMS = {"one": (0, 0, (), ()), "exp": (0, 1, (), ((1, 1),)), "binomial": (0, 1, (None,), ((1, 1),)), "logarithmic": (1, 1, ((1, 0),), ((1, 1),)),
             "arcsin": (1, 2, ((1, 0), (1, 0)), ((1, 1), (1, 2))), "bessel_i0": (0, 2, (), ((1, 2), (1, 2)))}

    def __init__(self, form, factor, p=0, r=Fraction(1), q=1, a=Fraction(0), inside=True):
        self.form, self.factor, self.p, self.r, self.q, self.inside = form, factor, p, r, q, inside
        self.first, self.step, above, self.below = self.FORMS[form]
        self.above = [(1, a) if pair is None else pair for pair in above]
        self.period = q * self.step * (2 if r < 0 else 1)

    def has(self, n):
        j = Fraction(n - self.p, self.q) - self.first
        return j == 0 if not self.step else j >= 0 and j % self.step == 0

    def coefficient(self, n):
        """Of t^n: by the quotients from the first on."""
        if not self.has(n):
            return point(0)
        j, value = self.first, self.r**self.first
        while j < (n - self.p) // self.q:
            value *= self.r**self.step * math.prod(a * j + b for a, b in self.above) / math.prod(a * j + b for a, b in self.below)
            j += self.step
        return mul(self.factor, point(value))

    def quotient(self, n, period):
        """The coefficient at n + period (i + 1) over that at n + period i, in size, as two polynomials in i."""
        j, more = Fraction(n - self.p, self.q), period // self.q
        above, below = [abs(self.r)**more], [Fraction(1)]
        for k in range(0, more, self.step):
            above = product_of_linear(above, [(a * more, a * (j + k) + b) for a, b in self.above])
            below = product_of_linear(below, [(a * more, a * (j + k) + b) for a, b in self.below])
        return above, below


def product_of_linear(f, pairs):
    for slope, value in pairs:
        f = [value * a + slope * b for a, b in zip([*f, Fraction(0)], [Fraction(0), *f])]
    return f


def product_of_polynomials(f, g):
    out = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            out[i + j] += a * b
    return out


def grows_as_fast(more, less, n, period):
    (f, F), (g, G) = more.quotient(n, period), less.quotient(n, period)
    left, right = product_of_polynomials(f, G), product_of_polynomials(g, F)
    return all(a >= b for a, b in itertools.zip_longest(left, right, fillvalue=Fraction(0)))


def tail_is_outweighed(sequences, n, period):
    left = [s.coefficient(n) for s in sequences]
    for i, s in enumerate(sequences):
        need = -left[i][0]
        for k, other in enumerate(sequences):
            if need > 0 and left[k][0] > 0 and grows_as_fast(other, s, n, period):
                taken = min(need, left[k][0])
                need, left[k] = need - taken, (left[k][0] - taken, INF)
        if need > 0:
            return False
    return True


def nowhere_negative(sequences):
    period = math.lcm(*(s.period or 1 for s in sequences))
    first = max(s.p + s.q * s.first for s in sequences) + 1
    held = 0
    for n in range(52 if period <= 12 else 0):
        held = held + 1 if n >= first and tail_is_outweighed(sequences, n, period) else 0
        if held == period:
            return True
        if not held and total(s.coefficient(n) for s in sequences)[0] < 0:
            return False
    return False


def one_number(v):
    if v[0] != v[1]:
        raise Undecided("a factor that is not rational")
    return v[0]


def power_of_kernel(poly, kernel):
    """(constant, r, q) of constant + r g^q."""
    constant = poly.get(frozenset(), point(0))
    (m, r), = [(m, f) for m, f in poly.items() if m]
    (s, q), = m
    if s != ("p", kernel) or not 1 <= one_number(q) <= 12:
        raise Refused("a power series in another kernel")
    return constant, one_number(r), int(q[0])


def sequence_of(e, m, factor, kernel):
    """factor g^p exp(rate g), or factor g^p f(constant + r g^q)"""
    own = {s: v for s, v in m if s in (("p", kernel), ("r", kernel))}
    p, rate, others = int(one_number(own.get(("p", kernel), point(0)))), own.get(("r", kernel)), [(s, v) for s, v in m if s not in own]
    if not others:
        return Sequence("exp", factor, p, one_number(rate)) if rate else Sequence("one", factor, p)
    ((kind, g), v), = others
    t = e.generators[g]
    if kind != "p" or v != point(1) or rate or op_of(t) not in ("exp", "power", *POWER_SERIES) or (op_of(t) == "power" and t["exponent"] >= 0):
        raise Refused("not a power series that is known")
    constant, r, q = power_of_kernel(Expansion("generators").expand(t["of"][0]), kernel)
    if op_of(t) == "exp":
        return Sequence("exp", mul(factor, exp(constant)), p, r, q)
    if op_of(t) == "power":
        b = one_number(constant)
        if b <= 0:
            raise Refused("a power of what is not above 0")
        inside = r < 0 and bounds(t["of"][0], same=True)[0] > 0
        return Sequence("binomial", mul(factor, power(constant, t["exponent"])), p, -r / b, q, -t["exponent"], inside)
    if not is_zero(constant):
        raise Refused("a power series around another number than 0")
    return Sequence(op_of(t), factor, p, r, q, inside=r > 0 or op_of(t) == "bessel_i0")


def converges(s, limits):
    """Where it has a value, or where some logarithmic(r g^q) has one: r g^q < 1."""
    return s.inside or any(l.form == "logarithmic" and l.r > 0 and l.r**s.q >= abs(s.r)**l.q for l in limits)


@rule("kernel", "outweighed")
def outweighed(proof, step):
    if len(step.premises) != 1 or not proof.only(step, KERNEL, proof.premise(step, 0).term):
        return False
    e, kernel = Expansion("generators"), proof.premise(step, 0).term
    poly = e.expand(step.term)
    (inner, _), = e.expand(kernel).items()
    (symbol, exponent), = inner
    if symbol[0] != "p" or exponent != point(1) or key(e.generators[symbol[1]]) != key(kernel):
        return False
    sequences = [sequence_of(e, m, f, symbol[1]) for m, f in poly.items()]
    return any(s.form != "one" for s in sequences) and all(converges(s, sequences) for s in sequences) and nowhere_negative(sequences)


@rule("kernel", "white_diagonal")
def white_diagonal(proof, step):
    t = step.term
    return not step.premises and op_of(t) == "product" and any(atom_of(c) == "white" for c in t["of"]) and bounds(t, same=True)[0] >= 0


def stripped(t, view):
    if is_amount(t):
        return t
    if op_of(t) == "columns":
        view.append(key(t["columns"]))
        return t["of"][0]
    return t | {"of": [stripped(c, view) for c in t["of"]]} if op_of(t) in ("sum", "product", "power", "exp", "normalize", *POWER_SERIES) else view.append(None)


@rule("kernel", "common_view")
def common_view(proof, step):
    view = []
    inner = stripped(step.term, view)
    return op_of(step.term) != "columns" and len(set(view)) == 1 and view[0] is not None and proof.only(step, KERNEL, inner, len(view[0]))


def check_steps(data):
    steps = [Step(raw) for raw in data["steps"]]
    proof, used = Proof(steps), set()
    for i, step in enumerate(steps, 1):
        if step.rule not in RULES or RULES[step.rule][0] != step.states:
            raise Refused(f"step {i}: no rule '{step.rule}' states that something is '{step.states}'")
        if not all(0 < p < i for p in step.premises) or step.d < 0:
            raise Refused(f"step {i}: its premises are not earlier steps")
        if not RULES[step.rule][1](proof, step):
            raise Refused(f"step {i} does not follow by rule '{step.rule}'")
        used |= set(step.premises)
    if not steps or not proof.says(steps[-1], KERNEL, data["expression"], int(data["columns"])):
        raise Refused("the last step does not say that the expression is a kernel")
    if used != set(range(1, len(steps))):
        raise Refused("a step is not used")


# ---- values at points, for refutations

def at(v, j):
    return v[j] if isinstance(v, list) else v


def total(values):
    out = point(0)
    for v in values:
        out = add(out, v)
    return out


def inner(x, z):
    return sum((a * b for a, b in zip(x, z)), Fraction(0))


def value_of_function(f, x):
    if number(f):
        return point(f)
    if "column" in f:
        return point(x[int(f["column"]) - 1])
    if f["function"] in ("norm2", "norm"):
        return point(inner(x, x)) if f["function"] == "norm2" else sqrt(point(inner(x, x)))
    return apply_function(f["function"], [value_of_function(g, x) for g in f.get("of", [])])


def quotient(a, b):
    return a / b if b else Fraction(0)


def polynomial_times_exp(coefficients, s):
    return mul(total(mul(point(c), whole_power(s, k)) for k, c in enumerate(coefficients)), exp(neg(s)))


def matern(t, squares):
    r = sqrt(point(squares))
    known = {Fraction(1, 2): (1,), Fraction(3, 2): (1, 1), Fraction(5, 2): (1, 1, Fraction(1, 3))}
    if t["nu"] not in known:
        raise Undecided("matern of another nu")
    return polynomial_times_exp(known[t["nu"]], mul(r, sqrt(point({Fraction(1, 2): 1}.get(t["nu"], 2 * t["nu"])))))


def angle(cosine_value):
    """acos. Newton's steps from a double, where cos, which falls on [0, pi], confirms what is around their end; else by bisection."""
    middle = (cosine_value[0] + cosine_value[1]) / 2
    theta, around = Fraction(math.acos(max(-1.0, min(1.0, float(middle))))), 10**6 * MARGIN
    for _ in range(4):
        slope = sin(point(theta))[0]
        theta += (cos(point(theta))[0] - middle) / slope if slope > Fraction(1, 1000) else 0
        theta = Fraction(round(theta * 10**100), 10**100)
    low, high = theta - around, theta + around
    confirmed = cos(point(low))[0] > cosine_value[1] and cos(point(high))[1] < cosine_value[0]
    return (low, high) if 0 <= low and high <= PI[0] and confirmed else angle_by_bisection(cosine_value)


def angle_by_bisection(cosine_value):
    low, high = Fraction(0), PI[1]
    for _ in range(330):
        middle = Fraction(round((low + high) / 2 * 10**96), 10**96)
        low, high = (middle, high) if cos(point(middle))[0] > cosine_value[1] else (low, middle)
    return sub(widened(low), point(0)) if low == high else (low - 10**3 * MARGIN, high + 10**3 * MARGIN)


def arccos_value(t, x, z):
    xx, zz, order = inner(x, x), inner(z, z), t["order"]
    if not (xx and zz):
        return point(Fraction(1, 2)) if order == 0 else point(0)
    c = div(point(inner(x, z)), sqrt(point(xx * zz)))
    theta = point(0) if c == point(1) else PI if c == point(-1) else angle(c)
    s, rest = sqrt(sub(point(1), whole_power(c, 2))), sub(PI, theta)
    if order == 0:
        return div(rest, PI)
    if order == 1:
        return div(mul(sqrt(point(xx * zz)), add(s, mul(rest, c))), PI)
    return div(mul(point(xx * zz), add(mul(point(3), mul(s, c)), mul(rest, add(point(1), mul(point(2), whole_power(c, 2)))))), PI)


def wendland_value(t, squares):
    q = sqrt(point(squares))
    if q[0] >= 1:
        return point(0)
    left, k, order = sub(point(1), q), int(t["k"]), int(t["dimension"]) // 2 + int(t["k"]) + 1
    factors = [(1,), (1, order + 1), (1, order + 2, Fraction(order**2 + 4 * order + 3, 3))][k]
    return mul(whole_power(left, order + k), total(mul(point(c), whole_power(q, i)) for i, c in enumerate(factors)))


def distance_function(t, squares):
    name, p = atom_of(t), t.get("p")
    if name == "power":
        return neg(power(point(squares), p / 2))
    if name == "log":
        return neg(log(add(point(1), power(point(squares / t["length_scale"]**2), p / 2))))
    return neg(sqrt(point(t["c"]**2 + squares)))


def centred_or_not(t, x, z):
    def psi(a, b):
        return distance_function(t, sum(((p - q)**2 for p, q in zip(a, b)), Fraction(0)))
    zero = [Fraction(0)] * len(x)
    return psi(x, z) if not t["centred"] else add(sub(sub(psi(x, z), psi(x, zero)), psi(zero, z)), psi(zero, zero))


class Row(list):
    """The numbers of a point, with its texts by the names of their columns."""
    def __init__(self, numbers, texts):
        super().__init__(numbers)
        self.texts = texts


def features(t, text):
    """What a kernel of texts sums up, with its amounts; the kernel is the inner product."""
    name, found = t["atom"], {}
    if name == "words":
        marks = [(w, Fraction(1)) for w in re.findall(rb"[A-Za-z0-9_\x80-\xff]+", text)]
    elif name == "weighted_degree":
        p = int(t["p"])
        return {(i, text[i:i + n]): Fraction(2 * (p - n + 1), p * (p + 1)) for i in range(len(text)) for n in range(1, p + 1) if i + n <= len(text)}
    elif name == "spectrum":
        p, kept = int(t["p"]), int(t["p"] - t.get("mismatches", 0))
        marks = [(tuple((k, text[i + k]) for k in places), Fraction(1))
                 for i in range(len(text) - p + 1) for places in itertools.combinations(range(p), kept)]
    else:
        marks = [(bytes(text[k] for k in places), t["decay"]**(places[-1] - places[0] + 1))
                 for places in itertools.combinations(range(len(text)), int(t["p"])) if places[-1] - places[0] < t["span"]]
    for mark, amount in marks:
        found[mark] = found.get(mark, 0) + amount
    return found


def value_of_texts(t, x, z):
    column = t.get("text", {}).get("text", "")
    if t["atom"] == "tfidf" or not isinstance(x, Row) or column not in x.texts:
        raise Undecided("texts that are not here")
    a, b = (features(t, r.texts[column].encode()) for r in (x, z))
    if t["atom"] == "weighted_degree":
        return point(sum(amount for mark, amount in a.items() if mark in b))  # its amounts belong to pairs
    return point(sum(amount * b.get(mark, 0) for mark, amount in a.items()))


def value_of_atom(t, x, z):
    if t["atom"] in TEXTS:
        return value_of_texts(t, x, z)
    name, u = atom_of(t), [a - b for a, b in zip(x, z)]
    scale, squares = t.get("length_scale"), sum((a * a for a in u), Fraction(0))
    scaled = sum(((a / at(scale, j))**2 for j, a in enumerate(u)), Fraction(0)) if scale is not None else None
    pairs = list(zip(x, z))
    if name == "rbf" and "form" in t:
        return exp(neg(point(sum(a * e * b for a, row in zip(u, t["form"]) for e, b in zip(row, u)))))
    if name == "brownian":
        parts = [power(point(s), t["hurst"]) for s in (inner(x, x), inner(z, z), squares)]
        return div(sub(add(parts[0], parts[1]), parts[2]), point(2))
    if name == "gibbs":
        f, g = (value_of_function(t["function"], r) for r in (x, z))
        s = add(whole_power(f, 2), whole_power(g, 2))
        return mul(power(div(mul(point(2), mul(f, g)), s), Fraction(len(x), 2)), exp(neg(div(point(squares), s))))
    if name == "thin_plate":
        return point(0) if not squares else div(mul(point(squares), log(point(squares))), point(2))
    if name == "sinc":
        turns = [a / at(scale, j) for j, a in enumerate(u)]
        return product(point(1) if not v else div(sin(mul(PI, point(v))), mul(PI, point(v))) for v in turns)
    if name == "periodic":
        waves = [div(whole_power(sin(mul(PI, point(a / at(t["period"], j)))), 2), point(at(scale, j)**2)) for j, a in enumerate(u)]
        return exp(mul(point(-2), total(waves)))
    simple = {
        "linear": lambda: point(inner(x, z)),
        "poly": lambda: power(point(t["gamma"] * inner(x, z) + t["c"]), t["degree"]),
        "rbf": lambda: exp(neg(point(sum((at(t["gamma"], j) * a * a for j, a in enumerate(u)), Fraction(0))))),
        "laplacian": lambda: exp(neg(point(sum((at(t["gamma"], j) * abs(a) for j, a in enumerate(u)), Fraction(0))))),
        "exponential": lambda: exp(neg(sqrt(point(sum(((at(t["gamma"], j) * a)**2 for j, a in enumerate(u)), Fraction(0)))))),
        "matern": lambda: matern(t, scaled),
        "rq": lambda: power(point(1 + scaled / (2 * t["alpha"])), -t["alpha"]),
        "wendland": lambda: wendland_value(t, scaled),
        "cosine": lambda: div(point(inner(x, z)), sqrt(point(inner(x, x) * inner(z, z)))) if any(x) and any(z) else point(0),
        "chi2": lambda: exp(neg(point(t["gamma"] * sum(quotient((a - b)**2, a + b) for a, b in pairs)))),
        "additive_chi2": lambda: point(sum(2 * quotient(a * b, a + b) for a, b in pairs)),
        "intersection": lambda: point(sum(min(p) for p in pairs)),
        "tanimoto": lambda: point(quotient(sum(min(p) for p in pairs), sum(max(p) for p in pairs)) if any(x) or any(z) else 1),
        "spline": lambda: point(math.prod(1 + a * b + min(a, b)**2 * (3 * max(a, b) - min(a, b)) / 6 for a, b in pairs)),
        "arccos": lambda: arccos_value(t, x, z),
        "white": lambda: point(int(x == z)),
        "form": lambda: point(sum(a * e * b for a, row in zip(x, t["matrix"]) for e, b in zip(row, z))),
        "tanh": lambda: tanh(point(t["a"] * inner(x, z) + t["c"])),
        "power": lambda: centred_or_not(t, x, z), "log": lambda: centred_or_not(t, x, z), "multiquadric": lambda: centred_or_not(t, x, z),
    }
    if name not in simple:
        raise Undecided(f"'{name}' cannot be evaluated from its name and numbers")
    return simple[name]()


def product(values):
    out = point(1)
    for v in values:
        out = mul(out, v)
    return out


def value(t, x, z):
    if is_amount(t):
        return span(t)
    op, of = op_of(t), t.get("of")
    if op is None:
        return value_of_atom(t, x, z)
    if op == "columns":
        if not all(number(j) for j in t["columns"]):
            raise Undecided("columns by name")
        x, z = (Row([r[int(j) - 1] for j in t["columns"]], r.texts) for r in (x, z))
        return value(of[0], x, z)
    if op == "normalize":
        k, a, b = value(of[0], x, z), value(of[0], x, x), value(of[0], z, z)
        return point(0) if is_zero(a) or is_zero(b) else div(k, sqrt(mul(a, b)))
    parts = [value(c, x, z) for c in of]
    if op == "weigh":
        return mul(mul(weight_at(t, x), parts[0]), weight_at(t, z))
    if op in POWER_SERIES:
        return POWER_SERIES[op][0](parts[0])
    return {"sum": lambda: total(parts), "product": lambda: product(parts), "exp": lambda: exp(parts[0]),
            "power": lambda: power(parts[0], t["exponent"])}[op]()


def weight_at(t, x):
    return value_of_function(t["function"], x) if "function" in t else exp(neg(point(t["gaussian"] * inner(x, x))))


def check_witness(data):
    w = data["witness"]
    points, weights, t = w["points"], w["weights"], w["expression"]
    if len(points) != len(weights) or any(len(p) != len(points[0]) for p in points) or int(data["columns"]) not in (0, len(points[0])):
        raise Refused("points and weights do not fit")
    texts = w.get("texts", {})
    if any(len(column) != len(points) for column in texts.values()):
        raise Refused("points and texts do not fit")
    points = [Row(p, {name: column[i] for name, column in texts.items()}) for i, p in enumerate(points)]
    pairs = [(i, j) for i in range(len(points)) for j in range(i + 1) if weights[i] * weights[j]]
    form = total(mul(point(weights[i] * weights[j] * (1 if i == j else 2)), value(t, points[i], points[j])) for i, j in pairs)
    if form[0] < 0 <= form[1]:
        raise Undecided("the sum over the witness is too near 0 for so many digits")
    if not form[1] < 0:
        raise Refused("the sum over the witness is not negative")
    error = w["bound"] + abs(w["value"]) / 2**50
    if not (form[0] <= w["value"] + error and w["value"] - error <= form[1] and w["value"] + w["bound"] < 0):
        raise Refused("the sum over the witness is not the value within the bound that is claimed")
    if not is_instance(t, data["expression"]):
        raise Refused("the witness is about another expression")
    return form


# ---- a frequency where the transform is negative, or a negative mean

def half_bessel(m, z):
    """K_m(z), m + 1/2 whole: (pi/(2z))^(1/2) e^-z times a sum of (n+k)!/(k! (n-k)!) (2z)^-k, n = |m| - 1/2."""
    n, twice = abs(m) - Fraction(1, 2), mul(point(2), z)
    if n.denominator != 1:
        raise Undecided("a transform of rq that is not elementary")
    terms = total(div(point(Fraction(math.factorial(int(n) + k), math.factorial(k) * math.factorial(int(n) - k))), whole_power(twice, k)) for k in range(int(n) + 1))
    return mul(mul(sqrt(div(PI, twice)), exp(neg(z))), terms)


def transform(kind, d, at):
    """The integral of k(u) exp(-i at.u) over R^d."""
    family, order, scale = kind
    s = point(sum(w * w for w in at))
    if family in ("constant", "periodic"):
        return point(0)  # masses at single frequencies
    if family in ("gaussian", "matern"):
        return mul(power(PI, Fraction(d, 2)), density(kind, d, s))
    if family == "wendland":
        return wendland_transform(kind, d, s[0])
    if family == "laplacian":
        return product(div(mul(point(2), scale), add(whole_power(scale, 2), point(w * w))) for w in at)
    if family == "sinc":
        return product(band(order, scale, abs(w)) for w in at)
    if is_zero(s):
        raise Undecided("the transform of rq at 0")
    m = order - Fraction(d, 2)
    front = mul(power(PI, Fraction(d, 2)), div(power(scale, order), exp(log_gamma(order))))
    return mul(mul(mul(point(2), front), power(div(s, mul(point(4), scale)), m / 2)), half_bessel(m, sqrt(mul(scale, s))))


def band(order, length, w):
    """length within |w| < pi/length, for the square length (1 - w length/(2 pi)) within twice that."""
    share = div(mul(point(w), length), mul(point(order), PI))
    inside = length if order == 1 else mul(length, sub(point(1), share))
    return point(0) if share[0] > 1 else inside if share[1] < 1 else (min(inside[0], Fraction(0)), max(inside[1], Fraction(0)))


FALLS_OFF = ("rbf", "laplacian", "exponential", "matern", "rq", "sinc", "wendland", "white")


def mean_of_monomial(e, m, d):
    """Over R^d. What falls off, or is 0 almost everywhere, has the mean 0, times what is bounded too; its exponential the mean 1."""
    atoms = {s: atom_of(without_view(e.generators[s[1]])) for s, _ in m if s[0] in "pr"}
    if any(s[0] not in "prw" for s, _ in m) or any(a not in (*FALLS_OFF, "periodic") for a in atoms.values()):
        raise Undecided("a mean that is not known")
    if any(s[0] == "w" and v[0] > 0 or s[0] == "p" and atoms[s] in FALLS_OFF and v[0] > 0 for s, v in m):
        return point(0)
    others = {s: v for s, v in m if atoms.get(s) == "periodic"}
    if not others:
        return point(1)
    kind = spectrum(e, others, d) if len(others) == len(m) else None
    if kind is None or kind[0] != "periodic":
        raise Undecided("a mean that is not known")
    return whole_power(mean_of_periodic(kind[2]), d)


def wendland_kind(e, m):
    """One wendland and nothing else."""
    if len(m) != 1:
        return None
    (s, v), = m
    t = e.generators[s[1]] if s[0] == "p" and v == point(1) else None
    if atom_of(t) != "wendland" or not all_fixed(t):
        return None
    return ("wendland", (int(t["k"]), int(t["dimension"]) // 2 + int(t["k"]) + 1), t["length_scale"])


def wendland_transform(kind, d, s):
    """Exact but for pi and what is left out of the series, which is at most the first term left out."""
    _, (k, l), length = kind
    a, shape = l + k, {0: [1], 1: [1, l + 1], 2: [1, l + 2, Fraction(l * l + 4 * l + 3, 3)]}[k]
    phi = [Fraction(0)] * (a + 3)
    for i in range(a + 1):
        for j, c in enumerate(shape):
            phi[i + j] += (-1)**i * math.comb(a, i) * c
    x, front, total_of_terms = s * length**2 / 4, Fraction(1), Fraction(0)
    for n in range(400):
        term = front * sum(c / (2 * n + d + j) for j, c in enumerate(phi))
        if 2 * x <= (n + 1) * (Fraction(d, 2) + n) and abs(term) < MARGIN:
            break
        total_of_terms, front = total_of_terms + term, -front * x / ((n + 1) * (Fraction(d, 2) + n))
    else:
        raise Undecided("a frequency that is too large")
    gamma = math.prod(Fraction(i) if d % 2 == 0 else i - Fraction(1, 2) for i in range(1, (d + 1) // 2))
    front = mul(point(2 * length**d / gamma), whole_power(PI, d // 2))
    return mul(front, (total_of_terms - abs(term), total_of_terms + abs(term)))


def check_frequency(data):
    w = data["frequency"]
    t, d, at = w["expression"], int(w["columns"]), w["at"]
    if d < 1 or len(at) != d or int(data["columns"]) not in (0, d):
        raise Refused("the frequency does not fit the number of columns")
    e = Expansion("gaussians")
    poly = e.expand(t)
    if w["mean"]:
        parts = [mul(f, mean_of_monomial(e, m, d)) for m, f in poly.items()]
    else:
        kinds = [(wendland_kind(e, m) or spectrum(e, dict(m), d), f) for m, f in poly.items()]
        if any(k is None for k, f in kinds):
            raise Undecided("a transform that is not known")
        parts = [mul(f, transform(k, d, at)) for k, f in kinds]
    claimed_below_zero(total(parts), w)
    if not is_instance(t, data["expression"]):
        raise Refused("the frequency is about another expression")


# ---- a negative coefficient of a power series

TERMS = 24


def convolved(f, g):
    return [total(mul(f[k], g[n - k]) for k in range(n + 1)) for n in range(TERMS)]


def padded(*first):
    return [*first, *[point(0)] * (TERMS - len(first))]


def raised_series(f, p):
    if p.denominator == 1 and 0 <= p <= 64:
        out = padded(point(1))
        for _ in range(int(p)):
            out = convolved(out, f)
        return out
    if not f[0][0] > 0:
        raise Undecided("a power of a series that is not above 0")
    g = [power(f[0], p)]
    for n in range(1, TERMS):
        g.append(div(total(mul(point(k * p - (n - k)), mul(f[k], g[n - k])) for k in range(1, n + 1)), mul(point(n), f[0])))
    return g


def exp_series(f):
    g = [exp(f[0])]
    for n in range(1, TERMS):
        g.append(div(total(mul(point(k), mul(f[k], g[n - k])) for k in range(1, n + 1)), point(n)))
    return g


def tanh_series(a, c):
    y = [tanh(point(c))]
    for n in range(TERMS - 1):
        y.append(mul(point(a / (n + 1)), sub(point(int(n == 0)), total(mul(y[k], y[n - k]) for k in range(n + 1)))))
    return y


def composed_series(op, u):
    """logarithmic: y' = u'/(1 - u); arcsin: y' = u'/(1 - u^2)^(1/2); bessel_i0 by Horner's rule where u has no constant."""
    if op == "bessel_i0":
        if not is_zero(u[0]):
            raise Undecided("bessel_i0 around another number than 0")
        out = padded(point(0))
        for n in reversed(range(TERMS)):
            out = [add(a, b) for a, b in zip(convolved(out, u), padded(point(POWER_SERIES[op][1](n))))]
        return out
    below = [sub(point(int(n == 0)), c) for n, c in enumerate(u if op == "logarithmic" else convolved(u, u))]
    slope = convolved([mul(point(n + 1), c) for n, c in enumerate(u[1:])] + [point(0)], raised_series(below, Fraction(-1, 1 if op == "logarithmic" else 2)))
    return [POWER_SERIES[op][0](u[0])] + [div(slope[n - 1], point(n)) for n in range(1, TERMS)]


def series_of(t, sphere):
    """(coefficients in <x,z>, whether that is all of them)."""
    if number(t):
        return padded(point(t)), True
    name, op, of = atom_of(t), op_of(t), t.get("of")
    if name and not all_fixed(t):
        raise Undecided("open parameters")
    atoms = {"linear": lambda: (padded(point(0), point(1)), True),
             "poly": lambda: (raised_series(padded(point(t["c"]), point(t["gamma"])), t["degree"]), t["degree"].denominator == 1 and 0 <= t["degree"] < TERMS),
             "tanh": lambda: (tanh_series(t["a"], t["c"]), False)}
    on_sphere = {"cosine": atoms["linear"], "rbf": lambda: (exp_series(padded(point(-2 * t["gamma"]), point(2 * t["gamma"]))), False),
                 "arccos": lambda: ([arccos_coefficient(int(t["order"]), n) for n in range(TERMS)], False)}
    found = atoms.get(name) or (on_sphere.get(name) if sphere else None)
    if found:
        return found()
    if op == "weigh" and "function" in t:
        a = power_of_norm(t["function"])
        if a is not None and (sphere or a[1] == 0):
            f, whole_of_it = series_of(of[0], sphere)
            return [mul(c, whole_power(a[0], 2)) for c in f], whole_of_it
    if op not in ("sum", "product", "power", "exp", *POWER_SERIES):
        raise Undecided("not a power series in <x, z>")
    parts = [series_of(c, sphere) for c in of]
    all_of_it = all(p[1] for p in parts)
    if op in POWER_SERIES:
        return composed_series(op, parts[0][0]), False
    if op == "exp":
        return exp_series(parts[0][0]), False
    if op == "power":
        p, degree = t["exponent"], max(n for n in range(TERMS) if n == 0 or not is_zero(parts[0][0][n]))
        return raised_series(parts[0][0], p), all_of_it and p.denominator == 1 and p >= 0 and p * degree < TERMS
    out, degree = parts[0][0], 0
    for f, _ in parts[1:]:
        out = [add(a, b) for a, b in zip(out, f)] if op == "sum" else convolved(out, f)
    if op == "product":
        degree = sum(max(n for n in range(TERMS) if n == 0 or not is_zero(f[n])) for f, _ in parts)
    return out, all_of_it and degree < TERMS


def check_coefficient(data):
    w = data["coefficient"]
    d, n = int(w["columns"]), int(w["order"])
    f, polynomial = series_of(w["expression"], w["series"] != "inner product")
    if w["series"] == "gegenbauer":
        if not polynomial or int(data["columns"]) != d:
            raise Refused("not a polynomial on that sphere")
        f = sphere_coefficients(f, d)
    elif w["series"] == "spheres" and data["columns"] != 0:
        raise Refused("power series on spheres speak of every number of columns")
    claimed_below_zero(f[n], w)
    if not is_instance(w["expression"], data["expression"]):
        raise Refused("the coefficient is about another expression")


def claimed_below_zero(found, w):
    if not found[1] < 0:
        raise Refused("the value is not negative")
    error = w["bound"] + abs(w["value"]) / 2**50
    if not (found[0] <= w["value"] + error and w["value"] - error <= found[1] and w["value"] + w["bound"] < 0):
        raise Refused("the value is not that which is claimed")


def is_instance(t, of):
    """The same, with a value for everything that was open."""
    if isinstance(of, dict) and ("auto" in of or "parameter" in of):
        values = span(of)
        return number(t) and values[0] <= t <= values[1] and ("set" not in of or t in of["set"])
    if isinstance(of, dict):
        return isinstance(t, dict) and t.keys() == of.keys() and all(is_instance(t[k], of[k]) for k in of)
    if isinstance(of, list):
        return isinstance(t, list) and len(t) == len(of) and all(map(is_instance, t, of))
    return t == of


# ---- what an object may be made of: asked before anything of it is used

class Written(Fraction):
    """A number that was written with a point or an exponent, as no place, order or number of columns is."""


def must(holds, where, what):
    if not holds:
        raise Refused(f"{where} is not {what}")


def a_number(v, where):
    must(number(v), where, "a number")


def at_least(low):
    def look(v, where):
        must(number(v) and not isinstance(v, Written) and v.denominator == 1 and low <= v <= 2**53, where, f"a whole number from {low} on")
    return look


def not_negative(v, where):
    must(number(v) and v >= 0, where, "a number from 0 on")


def a_text(v, where):
    must(isinstance(v, str), where, "a text")


def a_flag(v, where):
    must(isinstance(v, bool), where, "true or false")


def one_of(*names):
    def look(v, where):
        must(isinstance(v, str) and v in names, where, "one of " + ", ".join(names))
    return look


def list_of(kind, least=0, most=INF):
    def look(v, where):
        must(isinstance(v, list) and least <= len(v) <= most, where, f"a list of {least} or more" if most == INF else f"a list of {least} to {most}")
        for i, e in enumerate(v, 1):
            kind(e, f"{where}, place {i},")
    return look


def fields(needed, may_have=None):
    """An object with these fields and no others."""
    every = {**needed, **(may_have or {})}

    def look(v, where):
        must(isinstance(v, dict), where, "an object")
        for name in needed:
            must(name in v, where, f"whole without '{name}'")
        for name, e in v.items():
            must(name in every, where, f"what may have '{name}'")
            every[name](e, f"'{name}' of {where}")
    return look


def named(tag, table):
    """An object that says by its field `tag` what else it has."""
    def look(v, where):
        must(isinstance(v, dict) and isinstance(v.get(tag), str) and v[tag] in table, where, f"known by its '{tag}'")
        table[v[tag]]({k: e for k, e in v.items() if k != tag}, where)
    return look


def either(what, **kinds):
    """An object told by one of these fields."""
    def look(v, where):
        found = [k for name, k in kinds.items() if isinstance(v, dict) and name in v]
        must(found, where, what)
        found[0](v, where)
    return look


def open_or(written, what):
    """A value that is written, or that the data or tune will give."""
    rest = {"parameter": at_least(0)}
    is_open = either(what, auto=fields({"auto": a_text}), range=fields({**rest, "range": list_of(a_number, 2, 2)}), set=fields({**rest, "set": list_of(a_number, 1)}))

    def look(v, where):
        (is_open if isinstance(v, dict) else written)(v, where)
    return look


def a_vector_or_number(v, where):
    (list_of(a_number, 1) if isinstance(v, list) else a_number)(v, where)


def a_whole_value(v, where):
    must(number(v) and v.denominator == 1, where, "a whole number")


def a_matrix(v, where):
    if isinstance(v, dict):
        fields({"file": a_text})(v, where)
    else:
        list_of(list_of(a_number, 1), 1)(v, where)
        must(is_matrix(v), where, "a square matrix")


SCALAR, WHOLE, VECTOR = (open_or(k, "a value") for k in (a_number, a_whole_value, a_vector_or_number))


def an_amount(v, where):
    if not number(v):
        fields({"factor": a_number, "times": VECTOR})(v, where)


def a_function(v, where):
    if not number(v):
        FUNCTION(v, where)


def a_term(v, where):
    if not number(v):
        TERM(v, where)


def one_term(v, where):
    list_of(a_term, 1, 1)(v, where)


def a_place_or_name(v, where):
    (a_text if isinstance(v, str) else at_least(1))(v, where)


FUNCTION = either("a function", column=fields({"column": at_least(1)}), function=named("function", {
    **{n: fields({}) for n in ("norm", "norm2")},
    **{n: fields({"of": list_of(a_function, 1, 1)}) for n in ("negate", "exp", "log", "sqrt", "sin", "cos", "tanh", "abs")},
    **{n: fields({"of": list_of(a_function, 2, 2)}) for n in ("add", "subtract", "multiply", "divide", "power")}}))

TEXT = {"text": fields({"text": a_text})}
ATOMS = {  # the parameters of each
    **{n: fields({}) for n in ("linear", "cosine", "intersection", "white", "precomputed", "tanimoto", "additive_chi2", "spline", "thin_plate")},
    "poly": fields({"degree": SCALAR, "c": SCALAR, "gamma": SCALAR}),
    **{n: fields({"gamma": VECTOR}) for n in ("laplacian", "exponential")},
    "rbf": either("rbf", gamma=fields({"gamma": VECTOR}), form=fields({"form": a_matrix})),
    "matern": fields({"nu": SCALAR, "length_scale": VECTOR}),
    "rq": fields({"alpha": SCALAR, "length_scale": VECTOR}),
    "periodic": fields({"period": VECTOR, "length_scale": VECTOR}),
    "chi2": fields({"gamma": SCALAR}),
    "arccos": fields({"order": WHOLE}),
    "tanh": fields({"a": SCALAR, "c": SCALAR}),
    "form": fields({"matrix": a_matrix}),
    "user": fields({"function": fields({"user": a_text})}),
    "spectrum": fields({"p": WHOLE, "mismatches": WHOLE}, TEXT),
    "subsequence": fields({"p": WHOLE, "decay": SCALAR, "span": WHOLE}, TEXT),
    "weighted_degree": fields({"p": WHOLE}, TEXT),
    "words": fields({}, TEXT),
    "tfidf": fields({"texts": WHOLE, "words": either("a list of words", auto=fields({"auto": a_text}), words=fields({"words": a_text}))}, TEXT),
    "mean_map": fields({"columns": WHOLE, "of": one_term}, TEXT),
    "wendland": fields({"k": WHOLE, "dimension": WHOLE, "length_scale": VECTOR}),
    "sinc": fields({"length_scale": VECTOR}),
    "brownian": fields({"hurst": SCALAR}),
    "gibbs": fields({"function": a_function}),
    "power": fields({"p": SCALAR, "centred": WHOLE}),
    "log": fields({"p": SCALAR, "length_scale": SCALAR, "centred": WHOLE}),
    "multiquadric": fields({"c": SCALAR, "centred": WHOLE}),
}
ATOM = named("atom", ATOMS)
SPECIALS = {
    **{n: fields({}) for n in ("column_square", "column_distance", "distance_square", "harmonic")},
    **{n: fields({"of": ATOM}) for n in ("scaled_square", "scaled_distance", "sum_distance", "circle_square", "chi2_distance", "rq_log", "matern_log",
                                         "distance_psi", "sign_mean")},
    **{n: fields({"amount": an_amount}) for n in ("rest_dot", "minus_norms")},
}
OPERATIONS = {
    **{n: fields({"of": list_of(a_term, 1)}) for n in ("sum", "product")},
    **{n: fields({"of": one_term}) for n in ("exp", "normalize", *POWER_SERIES)},
    "power": fields({"exponent": a_number, "of": one_term}),
    "columns": fields({"columns": list_of(a_place_or_name, 1), "of": one_term}),
    "weigh": either("weigh", function=fields({"function": a_function, "of": one_term}), gaussian=fields({"gaussian": an_amount, "of": one_term})),
}
TERM = either("a term", atom=ATOM, op=named("op", OPERATIONS), special=named("special", SPECIALS), dot=fields({"dot": an_amount}), factor=an_amount,
              remainder=fields({"remainder": a_term, "order": at_least(0), "at": a_number}))

STEP = fields({"states": a_text, "columns": at_least(0), "rule": a_text, "id": a_text, "premises": list_of(at_least(1)), "term": a_term})
CLAIM = {"expression": a_term, "value": a_number, "bound": not_negative}


def texts_by_column(v, where):
    must(isinstance(v, dict), where, "an object")
    for name, column in v.items():
        list_of(a_text)(column, f"'{name}' of {where}")


WITNESS = fields({**CLAIM, "points": list_of(list_of(a_number), 1), "weights": list_of(a_number, 1)}, {"texts": texts_by_column})
FREQUENCY = fields({**CLAIM, "columns": at_least(1), "mean": a_flag, "at": list_of(a_number, 1)})
COEFFICIENT = fields({**CLAIM, "columns": at_least(0), "series": one_of("inner product", "spheres", "gegenbauer"), "order": at_least(0)})
EVERY = {"format": one_of("mercer-proof 1"), "verdict": one_of("proved", "refuted", "unknown"), "columns": at_least(0), "text": a_text, "expression": a_term}
OBJECTS = {
    "proved": fields({**EVERY, "steps": list_of(STEP, 1)}),
    "refuted": either("a refutation", witness=fields({**EVERY, "witness": WITNESS}), frequency=fields({**EVERY, "frequency": FREQUENCY}),
                      coefficient=fields({**EVERY, "coefficient": COEFFICIENT})),
    "unknown": fields(EVERY),
}


def exact(kind):
    """A number is the double it reads as."""
    def read(digits):
        value = float(digits)
        must(math.isfinite(value), f"the number {digits[:40]}", "finite")
        return kind(value)
    return read


def no_number(word):
    raise Refused(f"{word} is not a number")


def said_once(pairs):
    out = dict(pairs)
    must(len(out) == len(pairs), "an object that says one thing twice", "an object")
    return out


def well_formed(text):
    data = json.loads(text, parse_float=exact(Written), parse_int=exact(Fraction), parse_constant=no_number, object_pairs_hook=said_once)
    must(isinstance(data, dict) and data.get("format") == "mercer-proof 1", "this", "a proof object of format 'mercer-proof 1'")
    EVERY["verdict"](data.get("verdict"), "'verdict'")
    OBJECTS[data["verdict"]](data, "the proof")
    return data


def check(text):
    """Returns what was found to hold; raises Refused or Undecided."""
    data = well_formed(text)
    if data["verdict"] == "proved":
        check_steps(data)
        return f"{len(data['steps'])} steps hold"
    if data["verdict"] == "refuted":
        if "coefficient" in data:
            check_coefficient(data)
            return "a coefficient refutes it"
        if "frequency" in data:
            check_frequency(data)
            return "a frequency refutes it"
        form = check_witness(data)
        exactly = f": their sum is {form[0]}, exactly" if form[0] == form[1] and form[0].denominator < 10**6 else ""
        return f"{len(data['witness']['points'])} points refute it{exactly}"
    raise Undecided("nothing is claimed")


def main(files):
    status = 0
    for name in files:  # each on its own: whatever one holds, the others are read
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
            print(f"{name}: {check(text)}")
        except Undecided as why:
            print(f"{name}: not checked: {why}")
            status = status or 3
        except Refused as why:
            print(f"{name}: REFUSED: {why}")
            status = 1
        except Exception as why:
            print(f"{name}: REFUSED: it cannot be read as a proof ({type(why).__name__}: {why})")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
