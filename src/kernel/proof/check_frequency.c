/* check_frequency.c: is a refutation without points true? The transform at the frequency, or the mean, is computed once
   more from the tree of the expression, by other formulas than those of spectrum.c and without its expansions:

     density   the expression is read as a sum of numbers times one stationary function. With s = |omega|^2
                 exp(-g r^2)          exp((d/2) log(pi/g) - s/(4g))
                 matern, l            exp(d log 2 + (d/2) log pi + log Gamma(nu+d/2) - log Gamma(nu) + nu log l
                                          - (nu + d/2) log(l + s)), l = 2 nu/length_scale^2
                 rq, b                2 pi^(d/2) b^alpha/Gamma(alpha) (s/(4b))^(m/2) K_m(z), z = sqrt(b s),
                                      m = alpha - d/2, by the recurrence K_(m+1) = K_(m-1) + (2m/z) K_m
                 laplacian, sinc      column by column
                 wendland             its polynomial multiplied out, times the power series of the mean over a sphere
     mean      all that falls off is put to 0 where it stands, so that a number is left, or a polynomial in one
               periodic, the powers of which have the mean (e^-k I0(k))^d, k = n/length_scale^2

   What cannot be read so is not believed. */
#include "kernel/proof/refute.h"
#include <math.h>

enum { PIECES = 32, POWERS = 9, BESSEL = 500, DEGREE = 40 };

static bool has_numbers(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

/* ---- the density ---- */

/* factor exp(-gaussian r^2) atom^power, where rate is what stands for gamma of laplacian and exponential. */
typedef struct signed_part {
    mc_interval factor, gaussian, rate;
    const mc_node *atom;
    int power;
} signed_part;

typedef struct signed_parts {
    signed_part item[PIECES];
    int count;
    bool known;
} signed_parts;

static void add_piece(signed_parts *p, signed_part one) {
    p->known = p->known && p->count < PIECES;
    if (p->known)
        p->item[p->count++] = one;
}

static bool same_atom(const mc_node *a, const mc_node *b) {
    const bool exponential = a->atom == MC_EXPONENTIAL || a->atom == MC_LAPLACIAN;
    return a->atom == b->atom && (exponential || mc_node_equal(a, b));
}

static signed_part product_of_pieces(signed_parts *out, signed_part a, signed_part b) {
    signed_part one = a.atom ? a : b;
    out->known = out->known && (!a.atom || !b.atom || same_atom(a.atom, b.atom));
    one.factor = mc_iv_mul(a.factor, b.factor);
    one.gaussian = mc_iv_add(a.gaussian, b.gaussian);
    one.rate = mc_iv_add(a.rate, b.rate);
    one.power = a.power + b.power;
    return one;
}

static void multiply_pieces(signed_parts *a, const signed_parts *b) {
    signed_parts out = {.known = a->known && b->known};
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            add_piece(&out, product_of_pieces(&out, a->item[i], b->item[j]));
    *a = out;
}

static signed_parts one_piece(mc_interval factor) {
    return (signed_parts){
        .item = {{.factor = factor, .gaussian = mc_iv(0), .rate = mc_iv(0)}}, .count = 1, .known = true};
}

static signed_parts piece_of_atom(const mc_node *atom) {
    signed_parts out = one_piece(mc_iv(1));
    const double first = atom->parameter[0].number;
    out.known = has_numbers(atom);
    switch (atom->atom) {
    case MC_RBF: out.item[0].gaussian = mc_iv(first); return out;
    case MC_EXPONENTIAL:
    case MC_LAPLACIAN: out.item[0].rate = mc_iv(first); break;
    case MC_MATERN:
    case MC_RQ:
    case MC_SINC:
    case MC_WENDLAND:
    case MC_PERIODIC: break;
    default: out.known = false;
    }
    out.item[0].atom = atom;
    out.item[0].power = 1;
    return out;
}

static signed_parts read_pieces(const mc_node *node);

static signed_parts read_power(const mc_node *node) {
    const double p = node->number;
    if (node->child[0]->kind == MC_NUMBER)
        return one_piece(mc_iv_power(mc_iv(node->child[0]->number), p));
    const signed_parts base = read_pieces(node->child[0]);
    signed_parts out = one_piece(mc_iv(1));
    out.known = p == floor(p) && p >= 0 && p < POWERS;
    for (int i = 0; out.known && i < (int)p; i++)
        multiply_pieces(&out, &base);
    return out;
}

static signed_parts read_pieces(const mc_node *node) {
    signed_parts out = node->kind == MC_SUM ? (signed_parts){.known = true} : one_piece(mc_iv(1));
    switch (node->kind) {
    case MC_NUMBER: return one_piece(mc_iv(node->number));
    case MC_ATOM: return piece_of_atom(node);
    case MC_POWER: return read_power(node);
    case MC_SUM:
    case MC_PRODUCT: break;
    default: out.known = false; return out;
    }
    for (int i = 0; i < node->children; i++) {
        const signed_parts child = read_pieces(node->child[i]);
        if (node->kind == MC_PRODUCT)
            multiply_pieces(&out, &child);
        out.known = out.known && child.known;
        for (int k = 0; node->kind == MC_SUM && k < child.count; k++)
            add_piece(&out, child.item[k]);
    }
    return out;
}

typedef struct frequency {
    int64_t d;
    const mc_negative_frequency *claim;
    mc_interval s; /* its square */
} frequency;

static mc_interval half(int64_t d) {
    return mc_iv_div(mc_iv((double)d), mc_iv(2));
}

static mc_interval transform_of_gaussian(const frequency *w, mc_interval g) {
    const mc_interval front = mc_iv_mul(half(w->d), mc_iv_log(mc_iv_div(mc_iv_pi(), g)));
    return mc_iv_exp(mc_iv_sub(front, mc_iv_div(w->s, mc_iv_mul(mc_iv(4), g))));
}

static mc_interval transform_of_matern(const frequency *w, double nu, mc_interval l) {
    const mc_interval order = mc_iv_add(mc_iv(nu), half(w->d));
    mc_interval sum = mc_iv_mul(mc_iv((double)w->d), mc_iv_log(mc_iv(2)));
    sum = mc_iv_add(sum, mc_iv_mul(half(w->d), mc_iv_log(mc_iv_pi())));
    sum = mc_iv_add(sum, mc_iv_sub(mc_iv_log_gamma(order), mc_iv_log_gamma(mc_iv(nu))));
    sum = mc_iv_add(sum, mc_iv_mul(mc_iv(nu), mc_iv_log(l)));
    return mc_iv_exp(mc_iv_sub(sum, mc_iv_mul(order, mc_iv_log(mc_iv_add(l, w->s)))));
}

/* K_m(z), m + 1/2 whole and not negative: K_(-1/2) = K_(1/2) = sqrt(pi/(2z)) e^-z. */
static mc_interval half_bessel(double m, mc_interval z) {
    mc_interval low = mc_iv_mul(mc_iv_sqrt(mc_iv_div(mc_iv_pi(), mc_iv_mul(mc_iv(2), z))), mc_iv_exp(mc_iv_neg(z)));
    mc_interval high = low;
    for (double order = 0.5; order < m; order++) {
        const mc_interval next = mc_iv_add(low, mc_iv_mul(mc_iv_div(mc_iv(2 * order), z), high));
        low = high;
        high = next;
    }
    return high;
}

/* (1 + r^2/b)^-alpha, b = 2 one length^2 where the function itself has the order one. */
static mc_interval transform_of_rq(const frequency *w, double one, double length, int power) {
    const double alpha = power * one, m = alpha - 0.5 * (double)w->d;
    const mc_interval b = mc_iv_mul(mc_iv_mul(mc_iv(2), mc_iv(one)), mc_iv_square(mc_iv(length)));
    if (2 * m != floor(2 * m) || m == floor(m) || fabs(m) > 100 || !(w->s.lo > 0))
        return mc_iv_everything();
    /* the constants of a mean over g of (pi/g)^(d/2) exp(-s/(4g)), with the density b^alpha/Gamma(alpha) g^(alpha-1)
       exp(-b g): by logarithms */
    const mc_interval z = mc_iv_sqrt(mc_iv_mul(b, w->s)), log_pi = mc_iv_mul(half(w->d), mc_iv_log(mc_iv_pi()));
    mc_interval sum = mc_iv_add(mc_iv_log(mc_iv(2)), log_pi);
    sum = mc_iv_add(sum, mc_iv_sub(mc_iv_mul(mc_iv(alpha), mc_iv_log(b)), mc_iv_log_gamma(mc_iv(alpha))));
    const mc_interval quotient = mc_iv_log(mc_iv_div(w->s, mc_iv_mul(mc_iv(4), b)));
    sum = mc_iv_add(sum, mc_iv_mul(mc_iv_div(mc_iv(m), mc_iv(2)), quotient));
    return mc_iv_mul(mc_iv_exp(sum), half_bessel(fabs(m), z));
}

static mc_interval laplacian_in_column(const signed_part *p, mc_interval w) {
    return mc_iv_div(mc_iv_add(p->rate, p->rate), mc_iv_add(mc_iv_square(w), mc_iv_square(p->rate)));
}

/* The convolution of `power` boxes of height l and half width pi/l, power 1 or 2, over 2 pi each but the first. */
static mc_interval sinc_in_column(const signed_part *p, mc_interval w) {
    const mc_interval l = mc_iv(p->atom->parameter[0].number), edge = mc_iv_div(mc_iv_pi(), l);
    const mc_interval end = mc_iv_mul(mc_iv(p->power), edge), left = mc_iv_sub(end, w);
    if (left.hi < 0)
        return mc_iv(0);
    const mc_interval in =
        p->power == 1 ? l : mc_iv_mul(mc_iv_square(l), mc_iv_div(left, mc_iv_mul(mc_iv(2), mc_iv_pi())));
    return left.lo > 0 ? in : mc_iv_hull(mc_iv(0), in);
}

static mc_interval over_columns(const frequency *w, const signed_part *p,
                                mc_interval in_column(const signed_part *, mc_interval)) {
    mc_interval product = mc_iv(1);
    for (int64_t j = 0; j < w->d; j++)
        product = mc_iv_mul(product, in_column(p, mc_iv(j == 0 || w->claim->in_all ? w->claim->size : 0)));
    return product;
}

/* phi as a polynomial in q = r/length_scale, multiplied out. */
static int wendland_polynomial(const mc_node *atom, mc_interval *c) {
    const int k = (int)atom->parameter[0].number, l = (int)(atom->parameter[1].number / 2) + k + 1, a = l + k;
    const mc_interval one = mc_iv(k == 0 ? 0 : k == 1 ? l + 1 : l + 2);
    const mc_interval two = k == 2 ? mc_iv_div(mc_iv((double)l * l + 4 * l + 3), mc_iv(3)) : mc_iv(0);
    mc_interval choose = mc_iv(1);
    for (int j = 0; j <= a + 2; j++)
        c[j] = mc_iv(0);
    for (int j = 0; j <= a; j++) {
        c[j] = mc_iv_add(c[j], choose);
        c[j + 1] = mc_iv_add(c[j + 1], mc_iv_mul(choose, one));
        c[j + 2] = mc_iv_add(c[j + 2], mc_iv_mul(choose, two));
        choose = mc_iv_neg(mc_iv_div(mc_iv_mul(choose, mc_iv(a - j)), mc_iv(j + 1)));
    }
    return a + 2;
}

/* Term by term: the integral over the ball of |x|^j times the mean of exp(-i omega.x) over a sphere. */
static mc_interval transform_of_wendland(const frequency *w, const mc_node *atom) {
    mc_interval c[DEGREE + 3], sum = mc_iv(0), front = mc_iv(1);
    if (atom->parameter[1].number > DEGREE)
        return mc_iv_everything();
    const int degree = wendland_polynomial(atom, c);
    const mc_interval length = mc_iv(atom->parameter[2].number), turn = mc_iv_mul(w->s, mc_iv_square(length));
    const mc_interval area = mc_iv_sub(mc_iv_mul(half(w->d), mc_iv_log(mc_iv_pi())), mc_iv_log_gamma(half(w->d)));
    for (int n = 0; n < BESSEL; n++) {
        mc_interval moment = mc_iv(0);
        for (int j = 0; j <= degree; j++)
            moment = mc_iv_add(moment, mc_iv_div(c[j], mc_iv((double)(2 * n + w->d + j))));
        const mc_interval term = mc_iv_mul(front, moment);
        const double falls = 4.0 * (n + 1) * (0.5 * (double)w->d + n);
        if (2 * turn.hi <= falls && mc_iv_abs(term).hi < 1e-50) {
            sum = mc_iv_add(sum, mc_iv_hull(term, mc_iv_neg(term)));
            return mc_iv_mul(mc_iv_mul(mc_iv_mul(mc_iv(2), mc_iv_exp(area)), mc_iv_power(length, (double)w->d)), sum);
        }
        sum = mc_iv_add(sum, term);
        front = mc_iv_neg(mc_iv_div(mc_iv_mul(front, turn), mc_iv(falls)));
    }
    return mc_iv_everything();
}

static mc_interval transform_of_atom(const frequency *w, const signed_part *p) {
    const mc_node *atom = p->atom;
    const double first = atom->parameter[0].number, second = atom->parameter[1].number;
    switch (atom->atom) {
    case MC_EXPONENTIAL: return transform_of_matern(w, 0.5, mc_iv_square(p->rate));
    case MC_LAPLACIAN: return over_columns(w, p, laplacian_in_column);
    case MC_SINC: return p->power <= 2 ? over_columns(w, p, sinc_in_column) : mc_iv_everything();
    case MC_WENDLAND: return p->power == 1 ? transform_of_wendland(w, atom) : mc_iv_everything();
    case MC_RQ: return transform_of_rq(w, first, second, p->power);
    case MC_MATERN:
        if (p->power == 1)
            return transform_of_matern(w, first,
                                       mc_iv_div(mc_iv_mul(mc_iv(2), mc_iv(first)), mc_iv_square(mc_iv(second))));
        return first == 0.5 ? transform_of_matern(w, 0.5, mc_iv_square(mc_iv_div(mc_iv(p->power), mc_iv(second))))
                            : mc_iv_everything();
    default: return atom->atom == MC_PERIODIC ? mc_iv(0) : mc_iv_everything(); /* masses at single frequencies */
    }
}

static mc_interval density_of(const mc_node *instance, const mc_negative_frequency *claim) {
    const mc_interval square = mc_iv_square(mc_iv(claim->size));
    const frequency w = {claim->d, claim, mc_iv_mul(mc_iv(claim->in_all ? (double)claim->d : 1), square)};
    const signed_parts p = read_pieces(instance);
    mc_interval sum = mc_iv(0);
    for (int i = 0; p.known && i < p.count; i++) {
        const signed_part *one = &p.item[i];
        const bool gaussian = !mc_iv_is_zero(&one->gaussian);
        mc_interval t = gaussian ? transform_of_gaussian(&w, one->gaussian) : mc_iv(0);
        if (one->atom)
            t = gaussian ? mc_iv_everything() : transform_of_atom(&w, one);
        sum = mc_iv_add(sum, mc_iv_mul(one->factor, t));
    }
    return p.known ? sum : mc_iv_everything();
}

/* ---- the mean ---- */

/* A polynomial in one periodic: what is left where all that falls off is 0. */
typedef struct periodic_sum {
    mc_interval c[POWERS];
    const mc_node *periodic;
    bool known;
} periodic_sum;

static periodic_sum constant_sum(mc_interval c, bool known) {
    periodic_sum out = {.known = known};
    for (int n = 0; n < POWERS; n++)
        out.c[n] = mc_iv(0);
    out.c[0] = c;
    return out;
}

static bool is_constant(const periodic_sum *s) {
    return s->known && !s->periodic;
}

static bool has_values(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER && atom->parameter[i].kind != MC_VALUE_VECTOR)
            return false;
    return true;
}

static periodic_sum mean_of_atom(const mc_node *atom) {
    periodic_sum out = constant_sum(mc_iv(0), atom->atom == MC_PERIODIC ? has_numbers(atom) : has_values(atom));
    switch (atom->atom) {
    case MC_RBF:
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_SINC:
    case MC_WENDLAND:
    case MC_WHITE: return out;
    case MC_PERIODIC:
        out.c[1] = mc_iv(1);
        out.periodic = atom;
        return out;
    default: out.known = false; return out;
    }
}

static void combine_sums(periodic_sum *a, const periodic_sum *b, bool product) {
    periodic_sum out = constant_sum(mc_iv(0), a->known && b->known);
    out.known = out.known && (!a->periodic || !b->periodic || mc_node_equal(a->periodic, b->periodic));
    out.periodic = a->periodic ? a->periodic : b->periodic;
    for (int i = 0; i < POWERS; i++) {
        out.c[i] = product ? out.c[i] : mc_iv_add(a->c[i], b->c[i]);
        for (int j = 0; product && j < POWERS; j++)
            if (i + j < POWERS)
                out.c[i + j] = mc_iv_add(out.c[i + j], mc_iv_mul(a->c[i], b->c[j]));
            else
                out.known = out.known && (mc_iv_is_zero(&a->c[i]) || mc_iv_is_zero(&b->c[j]));
    }
    *a = out;
}

static periodic_sum read_mean(const mc_node *node);

/* Powers that are whole, and functions of what is a number far away and continuous there. */
static periodic_sum mean_of_function(const mc_node *node) {
    const periodic_sum base = read_mean(node->child[0]);
    const double p = node->number;
    if (node->kind == MC_EXP)
        return constant_sum(mc_iv_exp(base.c[0]), is_constant(&base));
    if (is_constant(&base) && (base.c[0].lo > 0 || node->child[0]->kind == MC_NUMBER))
        return constant_sum(mc_iv_power(base.c[0], p), true);
    periodic_sum out = constant_sum(mc_iv(1), p == floor(p) && p >= 0 && p < POWERS);
    for (int i = 0; out.known && i < (int)p; i++)
        combine_sums(&out, &base, true);
    return out;
}

static periodic_sum read_mean(const mc_node *node) {
    periodic_sum out = constant_sum(mc_iv(node->kind == MC_PRODUCT), true);
    switch (node->kind) {
    case MC_NUMBER: return constant_sum(mc_iv(node->number), true);
    case MC_ATOM: return mean_of_atom(node);
    case MC_POWER:
    case MC_EXP: return mean_of_function(node);
    case MC_COLUMNS:
        out = read_mean(node->child[0]);
        out.periodic = out.periodic ? node : NULL; /* a mean of fewer columns: asked for where nothing of it is left */
        return out;
    case MC_SUM:
    case MC_PRODUCT: break;
    default: out.known = false; return out;
    }
    for (int i = 0; i < node->children; i++) {
        const periodic_sum child = read_mean(node->child[i]);
        combine_sums(&out, &child, node->kind == MC_PRODUCT);
    }
    return out;
}

/* I0(k) = sum (k/2)^(2n)/n!^2 times e^-k; beyond the last term each is at most half of the one before. */
static mc_interval mean_of_periodic(mc_interval k) {
    mc_interval sum = mc_iv(0), root = mc_iv(1);
    for (int n = 1; n < BESSEL; n++) {
        sum = mc_iv_add(sum, mc_iv_square(root));
        root = mc_iv_div(mc_iv_mul(root, k), mc_iv(2.0 * n));
    }
    if (!(k.hi < BESSEL))
        return mc_iv_everything();
    return mc_iv_mul(mc_iv_exp(mc_iv_neg(k)), mc_iv_add(sum, mc_iv_mul(mc_iv_of(0, 2), mc_iv_square(root))));
}

static mc_interval mean_of(const mc_node *instance, int64_t d) {
    const periodic_sum s = read_mean(instance);
    mc_interval sum = s.known ? s.c[0] : mc_iv_everything();
    for (int n = 1; s.known && n < POWERS; n++)
        if (!mc_iv_is_zero(&s.c[n])) {
            if (s.periodic->kind != MC_ATOM)
                return mc_iv_everything();
            const mc_interval k = mc_iv_div(mc_iv(n), mc_iv_square(mc_iv(s.periodic->parameter[1].number)));
            sum = mc_iv_add(sum, mc_iv_mul(s.c[n], mc_iv_power(mean_of_periodic(k), (double)d)));
        }
    return sum;
}

bool mc_verify_frequency(const mc_node *instance, const mc_negative_frequency *claim) {
    const mc_interval found = claim->mean ? mean_of(instance, claim->d) : density_of(instance, claim);
    return found.hi < 0 && found.lo <= claim->value + claim->bound && claim->value - claim->bound <= found.hi
           && claim->value + claim->bound < 0;
}
