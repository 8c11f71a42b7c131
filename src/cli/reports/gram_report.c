/* gram_report.c: what is told of a matrix of kernel values: one object, printed as it is for programs and by rows for
   people. */
#include "cli/verbs/gram_verb.h"

enum { SMALL = 50 }; /* rows and columns that are still worth printing */

bool gram_is_small(const gram *g) {
    return g->n <= SMALL && g->m <= SMALL;
}

bool gram_is_judged(const gram *g) {
    return g->checked || g->proved || g->repaired || g->factor;
}

static const char *verdict_of(const mercer_gram_facts *f) {
    return !f->symmetric ? "NOT symmetric: no kernel gives this matrix"
           : f->positive ? "positive semidefinite, up to rounding"
                         : "NOT positive semidefinite: no kernel gives this matrix";
}

static json_t *json_facts(const gram *g) {
    const mercer_gram_facts *f = &g->facts;
    json_t *object = json_object();
    json_put(object, "asymmetry", json_value(f->asymmetry));
    json_put(object, "asymmetric_pair",
             json_pack("[I, I]", (json_int_t)f->asymmetric[0], (json_int_t)f->asymmetric[1]));
    json_put(object, "symmetric", json_boolean(f->symmetric));
    json_put(object, "eigenvalue_min", json_value(f->eigenvalue_min));
    json_put(object, "eigenvalue_max", json_value(f->eigenvalue_max));
    json_put(object, "cauchy_schwarz", json_value(f->cauchy_schwarz));
    json_put(object, "pair", json_pack("[I, I]", (json_int_t)f->row, (json_int_t)f->column));
    json_put(object, "rank", json_integer(f->rank));
    json_put(object, "positive", json_boolean(f->positive));
    json_put(object, "verdict", json_text(verdict_of(f)));
    json_put(object, "row", json_integer(f->row + 1));
    json_put(object, "column", json_integer(f->column + 1));
    if (f->symmetric)
        return object;
    const int64_t i = f->asymmetric[0], j = f->asymmetric[1];
    json_put(object, "i", json_integer(i + 1));
    json_put(object, "j", json_integer(j + 1));
    json_put(object, "above", json_value(g->K[i * g->n + j]));
    json_put(object, "below", json_value(g->K[j * g->n + i]));
    return object;
}

static const char *const proof_verdicts[] = {
    [MERCER_PROVED] = "proved", [MERCER_REFUTED] = "refuted", [MERCER_UNKNOWN] = "unknown"};

static json_t *json_gram_proof(const gram *g) {
    const mercer_gram_proof *p = &g->proof;
    json_t *object = json_object();
    const bool halves = p->verdict == MERCER_REFUTED && p->bound == 0;
    json_put(object, "verdict", json_text(proof_verdicts[p->verdict]));
    json_put(object, proof_verdicts[p->verdict], json_true());
    json_put(object, "bound", json_value(p->bound));
    json_put(object, "rounding", json_value(p->rounding));
    json_put(object, "asymmetry", json_value(p->asymmetry));
    if (halves) {
        json_put(object, "i", json_integer(p->asymmetric[0] + 1));
        json_put(object, "j", json_integer(p->asymmetric[1] + 1));
    } else if (p->verdict == MERCER_REFUTED)
        json_put(object, "weights", json_values(g->weights, g->n));
    return object;
}

static json_t *json_repair(const session *s, const gram *g) {
    const mercer_gram_repaired *r = &g->repair;
    json_t *object = json_object();
    json_put(object, "output", json_text(args_text(&s->args, "repair")));
    json_put(object, "keep_diagonal", json_boolean(args_flag(&s->args, "keep-diagonal")));
    json_put(object, "distance", json_value(r->distance));
    json_put(object, "relative", json_value(r->relative));
    json_put(object, "least", json_value(r->least));
    json_put(object, "largest", json_value(r->largest));
    json_put(object, "row", json_integer(r->moved[0] + 1));
    json_put(object, "column", json_integer(r->moved[1] + 1));
    json_put(object, "eigenvalue_min", json_value(r->eigenvalue_min));
    json_put(object, "negative", json_integer(r->negative));
    json_put(object, "bound", json_value(r->bound));
    json_put(object, "iterations", json_integer(r->iterations));
    return object;
}

static json_t *json_factor(const session *s, const gram *g) {
    json_t *object = json_object();
    json_put(object, "output", json_text(args_text(&s->args, "factor")));
    json_put(object, "rank", json_integer(g->rank.rank));
    json_put(object, "tolerance", json_value(g->rank.tolerance));
    json_put(object, "residual", json_value(g->rank.residual));
    json_put(object, "relative", json_value(g->rank.relative));
    return object;
}

static const report_row gram_rows[] = {
    {"matrix", NULL, "{n} x {m}, {bytes:size}"},
    {"symmetry", "check.symmetric", "largest |K_ij - K_ji| is {check.asymmetry:.2g}"},
    {"symmetry", "!check.symmetric",
     "K({check.i}, {check.j}) is {check.above:.6g} but K({check.j}, {check.i}) is {check.below:.6g}: the largest "
     "difference is {check.asymmetry:.2g}"},
    {"eigenvalues", "check.symmetric", "from {check.eigenvalue_min:.6g} to {check.eigenvalue_max:.6g}"},
    {"eigenvalues", "!check.symmetric", "from {check.eigenvalue_min:.6g} to {check.eigenvalue_max:.6g}, of (K + K')/2"},
    {"pairs", "check !1e-12<check.cauchy_schwarz", "k(x,z)^2 <= k(x,x) k(z,z) for all: Cauchy-Schwarz holds"},
    {"pairs", "1e-12<check.cauchy_schwarz",
     "k(x,z)^2 > k(x,x) k(z,z) for rows {check.row} and {check.column}, by {check.cauchy_schwarz:.2g} of the largest "
     "k(x,x)^2: Cauchy-Schwarz fails"},
    {"rank", NULL, "{check.rank} of {n}"},
    {"verdict", NULL, "{check.verdict}"},
    {"proof", "proof.proved", "positive semidefinite: PROVED, no eigenvalue is below {proof.bound:.3g}"},
    {"proof", "proof.weights", "positive semidefinite: REFUTED, v'Kv / v'v <= {proof.bound:.6g} for the v of --json"},
    {"proof", "proof.i",
     "positive semidefinite: REFUTED, K({proof.i}, {proof.j}) and K({proof.j}, {proof.i}) differ by "
     "{proof.asymmetry:.3g}"},
    {"proof", "proof.unknown",
     "positive semidefinite: undecided within rounding, which hides eigenvalues up to {proof.rounding:.2g}"},
    {"repair", "repair !0<repair.distance", "nothing to repair: {repair.output} holds the same numbers"},
    {"repair", "0<repair.distance",
     "{repair.output}, moved by {repair.distance:.4g} ({repair.relative:.2g} of its norm), most at K({repair.row}, "
     "{repair.column}), by {repair.largest:.3g}"},
    {"nearest", "0<repair.least", "no positive semidefinite matrix is nearer than {repair.least:.4g}"},
    {"proof", "repair", "{repair.output} is positive semidefinite: PROVED, no eigenvalue is below {repair.bound:.3g}"},
    {"factor", "factor",
     "{factor.output}: P has rank {factor.rank}, diagonal entries up to {factor.tolerance:.2g} are left out"},
    {"residual", "factor", "|K - P'P| is at most {factor.residual:.3g}, {factor.relative:.2g} of |K|"},
    {"written", NULL, "{output}"},
    {"next", "!output !check !proof !repair !factor",
     "too large to print: write it with -o K.npy, or look at it with --check"},
    {0},
};

int report_gram(session *s, const gram *g, const char *path) {
    json_t *object = json_object(), *rows = json_array();
    json_put(object, "kernel", json_text(mercer_kernel_text(g->bound)));
    json_put(object, "n", json_integer(g->n));
    json_put(object, "m", json_integer(g->m));
    json_put(object, "bytes", json_integer((json_int_t)(g->n * g->m) * 8));
    if (path)
        json_put(object, "output", json_text(path));
    if (g->checked)
        json_put(object, "check", json_facts(g));
    if (g->proved)
        json_put(object, "proof", json_gram_proof(g));
    if (g->repaired)
        json_put(object, "repair", json_repair(s, g));
    if (g->factor)
        json_put(object, "factor", json_factor(s, g));
    for (int64_t i = 0; gram_is_small(g) && i < g->n; i++)
        json_array_append_new(rows, json_values(g->K + i * g->m, g->m));
    if (!path && !gram_is_judged(g) && gram_is_small(g))
        json_object_set(object, "values", rows);
    json_decref(rows);
    say_kernel(s, g->bound, "");
    return report_fields(s, object, gram_rows);
}
