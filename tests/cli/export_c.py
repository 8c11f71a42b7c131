"""export_c.py: models exported as C are compiled as strict C99 and must predict what mercer predicts, to 1e-12 of the largest value (1e-5 for
tables of float). Prints the worst difference over its bar, as a verdict."""
import csv
import os
import re
import shutil
import subprocess
import sys

MAIN = """
#include <stdio.h>
double %(name)s_predict(const double *x);
void %(name)s_values(const double *x, double *out);
%(more)s
int main(void) {
    double x[%(d)d], out[%(outputs)d];
    while (%(reads)s) {
        printf("%%.17g", %(name)s_predict(x));
        %(values)s(x, out);
        for (int k = 0; k < %(outputs)d; k++)
            printf(" %%.17g", out[k]);
        printf("\\n");
    }
    return 0;
}
"""


COMPILERS = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wmissing-prototypes", "-Wunused", "-Werror"]


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True, **more).stdout


def built(model, rows, outputs, proba, form, header):
    run("mercer", "export", model, "--to", form, "-o", "made.c", "-q")
    d = len(rows[0])
    reads = " && ".join(f'scanf("%lf", x + {j}) == 1' for j in range(d))
    values = "made_proba" if proba else "made_values"
    more = "void made_proba(const double *x, double *out);" if proba else ""
    open("main.c", "w").write(MAIN % dict(name="made", d=d, outputs=outputs, reads=reads, values=values, more=more))
    for compiler in COMPILERS:
        run(compiler, "-std=c99", *STRICT, "-O1", "-c", "-o", "made.o", "made.c")
    run(COMPILERS[0], "-std=c99", "-o", "made", "made.o", "main.c", "-lm")
    names = re.findall(r"^     x\[\d+\]  (.*)$", open("made.c").read(), re.M)
    assert names == header, f"the comment names {names}, the file has {header}"
    text = "\n".join(" ".join(r) for r in rows)
    return [[float(v) for v in line.split()] for line in run("./made", input=text).splitlines()]


def check(data, machine, kernel, *options, form="c", way=(), unit=1):
    run("mercer", "fit", data, "-m", machine, "-k", kernel, "-o", "m.mercer", "-q", *options)
    header, *rows = list(csv.reader(open(data)))
    rows = [r[:-1] if unit == 1 else [repr(float(v) * unit) for v in r[:-1]] for r in rows[:40]]
    open("new.csv", "w").write("\n".join(",".join(r) for r in [header[:-1], *rows]) + "\n")
    wanted = list(csv.reader(run("mercer", "predict", "m.mercer", "new.csv", *way).splitlines()))
    outputs = len(wanted[0]) - 1 if "--proba" in way else 1
    seen = built("m.mercer", rows, outputs if "--proba" in way else 3 if machine in CLASSES and data == "trees.csv" else 1, "--proba" in way, form, header[:-1])
    bar, worst = (1e-12 if form == "c" else 1e-5), 0.0
    for want, got in zip(wanted[1:], seen, strict=True):
        if machine in CLASSES and data == "trees.csv":
            worst = max(worst, 0.0 if want[0] == LABELS[int(got[0])] else 1e300)
        else:
            worst = max(worst, abs(float(want[0]) - got[0]) / max(1.0, abs(float(want[0]))))
        if "--proba" in way:
            worst = max([worst] + [abs(float(a) - b) for a, b in zip(want[1:], got[1:], strict=True)])
    verdict = "the same" if worst <= bar else f"DIFFERENT by {worst:g}"
    print(f"{machine:10} {form:8} {kernel}: {verdict}")


CLASSES = {"svc", "logistic", "nu-svc", "squared-hinge", "knn"}
LABELS = ["ash", "elm", "oak"]


def main():
    run("sh", "-c", "mercer generate friedman1 -n 60 --noise 0.5 --seed 1 -o numbers.csv -q")
    run("sh", "-c", f"{sys.executable} {os.environ['TESTS']}/iris.py > trees.csv")
    for kernel in ["rbf(gamma=0.5)", "rbf(gamma=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1])", "0.5*linear + poly(degree=3, c=1, gamma=0.2)",
                   "laplacian(gamma=0.3)*exponential(gamma=0.2)", "matern(nu=0.5, length_scale=1) + matern(nu=1.5, length_scale=2)*matern(nu=2.5, length_scale=3)",
                   "rq(alpha=2, length_scale=1) + periodic(period=2, length_scale=1.5)[1:3]", "normalize(poly(degree=2)) + cosine",
                   "arccos(order=0) + arccos(order=1) + arccos(order=2)", "chi2(gamma=0.5) + intersection + white",
                   "tanimoto + additive_chi2 + wendland(k=2, dimension=10, length_scale=9) + wendland(k=0, dimension=10, length_scale=9)",
                   "sinc + brownian(hurst=0.7) + spline", "logarithmic(0.9*rbf(gamma=0.1)) + arcsin(0.9*cosine) + bessel_i0(linear)", "power(p=1.3, centred=1) + log(p=1, length_scale=2, centred=1)", "multiquadric(c=2, centred=1)",
                   "exp(0.3*linear)[x1, x2] + form([[2,1],[1,2]])[3:4]", "weigh(exp(-norm2/2) + abs(x[1])/2 - 3^norm, rbf(gamma=1)) + linear^2"]:
        check("numbers.csv", "ridge", kernel, "--lambda", "0.1", "--intercept", "--solver", "cholesky")
    for kernel in ["cosine", "normalize(linear + linear)", "arccos(order=0)", "normalize(exp(linear))"]: # where squares are beyond a double
        for unit in (1e160, 1e-170):
            check("numbers.csv", "ridge", kernel, "--lambda", "0.1", "--solver", "cholesky", unit=unit)
    check("numbers.csv", "ridge", "rbf(gamma=0.5)", "--lambda", "0.1", "--scale", "standard")
    check("numbers.csv", "ridge", "rbf(gamma=0.5)", "--lambda", "0.1", form="c-float")
    check("numbers.csv", "svr", "rbf(gamma=0.5)", "--C", "10")
    check("numbers.csv", "svr", "linear", "--C", "10")
    check("numbers.csv", "ridge", "linear", "--solver", "primal", "--lambda", "0.1", "--intercept", "--scale", "standard")
    check("numbers.csv", "gp", "rbf(gamma=0.5)", "--noise", "0.1", "--no-learn")
    check("numbers.csv", "quantile", "rbf(gamma=0.5)", "--tau", "0.3")
    for form in ["c", "c-float"]:
        check("numbers.csv", "ridge", "rbf(gamma=0.5)", "--lambda", "0.1", "--solver", "fourier", "--rank", "20", "--scale", "minmax", form=form)
        check("numbers.csv", "knn", "rbf(gamma=0.5) + linear", "--weighting", "distance", form=form)
    check("numbers.csv", "ridge", "rbf(gamma=0.5)", "--lambda", "0.1", "--solver", "nystrom", "--rank", "20")
    check("trees.csv", "knn", "rbf(gamma=0.5)", "--neighbors", "7", "--scale", "standard")
    check("trees.csv", "svc", "rbf(gamma=0.5)", "--C", "5")
    check("trees.csv", "svc", "rbf(gamma=0.5)", "--C", "5", "--multiclass", "ovr", "--scale", "minmax")
    check("trees.csv", "logistic", "rbf(gamma=0.5)", "--lambda", "0.1", way=("--proba",))
    check("trees.csv", "squared-hinge", "rbf(gamma=0.5)", "--lambda", "0.1", form="c-float")


main()
