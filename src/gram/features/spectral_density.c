/* spectral_density.c: by Bochner's theorem k(x, z) = k(0) E cos(<omega, x - z>) for a random omega; this file draws it.

   Atoms, z a vector of independent normals in the columns in view:
       rbf           sqrt(2 gamma_j) z_j
       matern        z_j / length_scale_j / sqrt(g / (2 nu)),  g chi-squared with 2 nu degrees of freedom: a
       multivariate t
       exponential   matern 1/2: gamma_j z_j / |g|, g normal
       rq            z_j / length_scale_j * sqrt(tau),  tau of the gamma law with shape alpha and mean 1: a scale
       mixture of rbf
       laplacian     gamma_j c_j,  c_j independent of the law of Cauchy
       periodic      2 pi / period_j * (p - q),  p and q Poisson with mean 1 / (2 length_scale_j^2): exp(a cos t) =
       sum_k I_k(a) cos(k t)
   Expressions, m the mass k(x, x):
       a + b         that of a with probability m_a / (m_a + m_b), else that of b
       a * b         the sum of both, independent;  a ^ p: of p draws
       exp(a)        the sum of N draws, N Poisson with mean m_a: e^k = e^m sum_n (m^n e^-m / n!) (k / m)^n
       normalize(a)  that of a

   Orthogonal random features: z is a random rotation's column times the length of an independent normal vector, which
   has the same law; the columns of one rotation serve one block of frequencies. Yu, Suresh, Choromanski, Holtmann-Rice
   and Kumar (2016). Above WIDE columns, and for the further draws of a power, plain normals are taken. */
#include "gram/features/spectral_density.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/node.h"
#include "kernel/evaluate/view.h"
#include <math.h>
#include <string.h>

enum { WIDE = 1024, ROTATIONS = 8, LOOK = 4096, TRIES = 1000, DRAWS = 1 << 16 /* of one frequency, at most */ };
static const double MANY = 1e6; /* the mean of Poisson numbers whose difference is as good as normal */

/* The rotation in use for one atom: row j % d serves frequency j. */
typedef struct rotation {
    const mc_node *node;
    double *Q;
    int64_t d, block, last;
} rotation;

typedef struct frequency_draw {
    mercer_ctx *ctx;
    mercer_status status; /* told to stop: nothing more is drawn */
    int64_t drawn;        /* pieces of frequencies: a power or an exponential takes as many as it says */
    mc_rng rng;
    uint64_t seed;
    int64_t j;
    double *omega; /* of frequency j, d long: added to */
    double *z;
    rotation rotation[ROTATIONS];
    int rotations;
} frequency_draw;

/* Looks at the clock now and then: how many pieces one frequency takes is the kernel's to say. */
static bool goes_on(frequency_draw *s) {
    if (++s->drawn % LOOK == 0 && !s->status)
        s->status = mc_report_progress(s->ctx, -1);
    return !s->status;
}

/* ---- Numbers of several laws ---- */

static double chi_squared(mc_rng *rng, int64_t degrees) {
    double sum = 0;
    for (int64_t i = 0; i < degrees; i++) {
        const double g = mc_rng_normal(rng);
        sum += g * g;
    }
    return sum;
}

/* Marsaglia and Tsang (2000); below 1 by the power of a uniform number. Shape and scale 1. Nineteen in twenty are
   taken: a thousand are not where the shape is so large that the test is rounding, and then the law is as good as its
   mean. */
static double gamma_law(mc_rng *rng, double shape) {
    if (shape < 1)
        return gamma_law(rng, shape + 1) * pow(1 - mc_rng_uniform(rng), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (int k = 0; k < TRIES; k++) {
        const double x = mc_rng_normal(rng), v = pow(1 + c * x, 3), u = 1 - mc_rng_uniform(rng);
        if (v > 0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
    return d;
}

/* Arrivals of unit rate up to time mean. */
static int64_t draw_poisson(frequency_draw *s, double mean) {
    int64_t count = -1;
    for (double time = 0; time <= mean && goes_on(s); count++)
        time -= log(1 - mc_rng_uniform(&s->rng));
    return count;
}

/* The difference of two Poisson numbers: symmetric, with variance 2 mean; its fourth moment is that of the normal law
   to 1 / (6 mean). */
static double poisson_difference(frequency_draw *s, double mean) {
    if (mean > MANY)
        return nearbyint(sqrt(2 * mean) * mc_rng_normal(&s->rng));
    const int64_t p = draw_poisson(s, mean), q = draw_poisson(s, mean);
    return (double)(p - q);
}

static double draw_cauchy(mc_rng *rng) {
    return tan(3.14159265358979323846 * (mc_rng_uniform(rng) - 0.5));
}

/* ---- Rotations ---- */

static void take_off(const double *p, int64_t d, double *q) {
    double along = 0;
    for (int64_t c = 0; c < d; c++)
        along += p[c] * q[c];
    for (int64_t c = 0; c < d; c++)
        q[c] -= along * p[c];
}

static void make_unit(int64_t d, double *q) {
    double square = 0;
    for (int64_t c = 0; c < d; c++)
        square += q[c] * q[c];
    for (int64_t c = 0; c < d; c++)
        q[c] /= sqrt(square);
}

/* Rows of normals made orthonormal; the earlier rows are taken off twice, since once is not enough in rounded
   arithmetic. */
static void draw_orthonormal_rows(mc_rng *rng, int64_t d, double *Q) {
    for (int64_t i = 0; i < d; i++) {
        double *q = Q + i * d;
        for (int64_t c = 0; c < d; c++)
            q[c] = mc_rng_normal(rng);
        for (int64_t p = 0; p < 2 * i; p++)
            take_off(Q + p % i * d, d, q);
        make_unit(d, q);
    }
}

static rotation *rotation_of(frequency_draw *s, const mc_node *node) {
    for (int i = 0; i < s->rotations; i++)
        if (s->rotation[i].node == node)
            return &s->rotation[i];
    return NULL;
}

/* z <- a vector of d independent normals, by way of the atom's rotation where it has one. */
static void draw_normal_vector(frequency_draw *s, const mc_node *node, int64_t d) {
    rotation *r = rotation_of(s, node);
    if (!r || r->last == s->j) {
        for (int64_t c = 0; c < d; c++)
            s->z[c] = mc_rng_normal(&s->rng);
        return;
    }
    if (r->block != s->j / d) {
        r->block = s->j / d;
        const uint64_t which = (uint64_t)(r - s->rotation) + 1;
        mc_rng rng = mc_rng_at(s->seed, MC_STREAM_FOURIER, which << 40 | (uint64_t)r->block);
        draw_orthonormal_rows(&rng, d, r->Q);
    }
    r->last = s->j;
    const double length = sqrt(chi_squared(&s->rng, d));
    for (int64_t c = 0; c < d; c++)
        s->z[c] = length * r->Q[s->j % d * d + c];
}

/* ---- Atoms ---- */

typedef void atom_draw(frequency_draw *s, const mc_node *node, const mc_view *view);

static void add_frequency(frequency_draw *s, const mc_view *view, int64_t c, double frequency) {
    s->omega[mc_view_place(view, c)] += frequency;
}

static void draw_rbf(frequency_draw *s, const mc_node *node, const mc_view *view) {
    draw_normal_vector(s, node, view->d);
    for (int64_t c = 0; c < view->d; c++)
        add_frequency(s, view, c, sqrt(2 * mc_value_at(&node->parameter[0], c)) * s->z[c]);
}

static void draw_exponential(frequency_draw *s, const mc_node *node, const mc_view *view) {
    draw_normal_vector(s, node, view->d);
    const double g = fabs(mc_rng_normal(&s->rng));
    for (int64_t c = 0; c < view->d; c++)
        add_frequency(s, view, c, mc_value_at(&node->parameter[0], c) * s->z[c] / g);
}

static void draw_matern(frequency_draw *s, const mc_node *node, const mc_view *view) {
    draw_normal_vector(s, node, view->d);
    const double nu = node->parameter[0].number, degrees = 2 * nu;
    const double g = mc_matern_is_elementary(nu) ? sqrt(chi_squared(&s->rng, (int64_t)degrees) / degrees)
                                                 : sqrt(gamma_law(&s->rng, nu) / nu);
    for (int64_t c = 0; c < view->d; c++)
        add_frequency(s, view, c, s->z[c] / (mc_value_at(&node->parameter[1], c) * g));
}

static void draw_rq(frequency_draw *s, const mc_node *node, const mc_view *view) {
    draw_normal_vector(s, node, view->d);
    const double alpha = node->parameter[0].number, tau = gamma_law(&s->rng, alpha) / alpha;
    for (int64_t c = 0; c < view->d; c++)
        add_frequency(s, view, c, s->z[c] / mc_value_at(&node->parameter[1], c) * sqrt(tau));
}

static void draw_laplacian(frequency_draw *s, const mc_node *node, const mc_view *view) {
    for (int64_t c = 0; c < view->d; c++)
        add_frequency(s, view, c, mc_value_at(&node->parameter[0], c) * draw_cauchy(&s->rng));
}

static void draw_periodic(frequency_draw *s, const mc_node *node, const mc_view *view) {
    for (int64_t c = 0; c < view->d; c++) {
        const double length = mc_value_at(&node->parameter[1], c), mean = 1 / (2 * length * length);
        const double k = poisson_difference(s, mean);
        add_frequency(s, view, c, 2 * 3.14159265358979323846 / mc_value_at(&node->parameter[0], c) * k);
    }
}

static const struct {
    atom_draw *draw;
    bool normals;
} atoms[MC_ATOM_COUNT] = {
    [MC_RBF] = {draw_rbf, true}, [MC_EXPONENTIAL] = {draw_exponential, true}, [MC_MATERN] = {draw_matern, true},
    [MC_RQ] = {draw_rq, true},   [MC_LAPLACIAN] = {draw_laplacian, false},    [MC_PERIODIC] = {draw_periodic, false},
};

/* ---- Expressions ---- */

static mercer_status fail_unsupported_kernel(mercer_ctx *ctx, const mc_node *node) {
    char *text = NULL;
    MC_TRY(mc_node_print(ctx, node, &text));
    mc_fail_at(ctx, MERCER_INVALID, node->offset,
               "random Fourier features are for kernels made of rbf, laplacian, exponential, matern, rq, periodic and "
               "positive constants; '%s' is none",
               text);
    mc_free(text);
    return MERCER_INVALID;
}

/* A power, an exponential or a short period is drawn one factor after the other. */
static mercer_status check_draws(mercer_ctx *ctx, const mc_node *node, double draws) {
    if (draws <= DRAWS)
        return MERCER_OK;
    char *text = NULL;
    MC_TRY(mc_node_print(ctx, node, &text));
    mc_fail_at(ctx, MERCER_INVALID, node->offset,
               "random Fourier features: one frequency of '%s' would take %.3g draws, and %d are the most; take a "
               "smaller power or factor, or a longer length scale",
               text, draws, DRAWS);
    mc_free(text);
    return MERCER_INVALID;
}

static mercer_status check_atom(mercer_ctx *ctx, const mc_node *node) {
    const mc_value *length = &node->parameter[1];
    if (!atoms[node->atom].draw)
        return fail_unsupported_kernel(ctx, node);
    for (int64_t c = 0; node->atom == MC_PERIODIC && c < (length->kind == MC_VALUE_VECTOR ? length->columns : 1); c++)
        MC_TRY(check_draws(ctx, node, 0.5 / mc_value_at(length, c) / mc_value_at(length, c)));
    return MERCER_OK;
}

static mercer_status mass_of(mercer_ctx *ctx, const mc_node *node, double *out) {
    double child[2] = {0, 0};
    *out = 1;
    switch (node->kind) {
    case MC_NUMBER: *out = node->number; return node->number > 0 ? MERCER_OK : fail_unsupported_kernel(ctx, node);
    case MC_ATOM: return check_atom(ctx, node);
    case MC_SUM:
    case MC_PRODUCT:
        *out = node->kind == MC_SUM ? 0 : 1;
        for (int i = 0; i < node->children; i++) {
            MC_TRY(mass_of(ctx, node->child[i], &child[0]));
            *out = node->kind == MC_SUM ? *out + child[0] : *out * child[0];
        }
        return MERCER_OK;
    case MC_POWER:
    case MC_EXP:
        MC_TRY(mass_of(ctx, node->child[0], &child[0]));
        *out = node->kind == MC_EXP ? exp(child[0]) : pow(child[0], node->number);
        if (node->kind == MC_POWER && !(node->number >= 1 && node->number == floor(node->number)))
            return fail_unsupported_kernel(ctx, node);
        return check_draws(ctx, node, node->kind == MC_EXP ? child[0] : node->number);
    case MC_NORMALIZE: return mass_of(ctx, node->child[0], &child[0]);
    case MC_COLUMNS: return mass_of(ctx, node->child[0], out);
    case MC_WEIGH:
    case MC_SERIES: break;
    }
    return fail_unsupported_kernel(ctx, node);
}

mercer_status mc_spectrum_mass(mercer_ctx *ctx, const mercer_kernel *kernel, double *mass) {
    return mass_of(ctx, kernel->root, mass);
}

/* The mass of a part that mass_of has accepted already. */
static double known_mass(const mc_node *node) {
    double mass = 0;
    mass_of(NULL, node, &mass); /* no way to fail is left, so nothing needs a context */
    return mass;
}

static void draw_node(frequency_draw *s, const mc_node *node, const mc_view *view);

static void draw_one_of(frequency_draw *s, const mc_node *node, const mc_view *view) {
    double at = mc_rng_uniform(&s->rng) * known_mass(node);
    int i = 0;
    for (; i < node->children - 1; i++) {
        at -= known_mass(node->child[i]);
        if (at < 0)
            break;
    }
    draw_node(s, node->child[i], view);
}

static void draw_node(frequency_draw *s, const mc_node *node, const mc_view *view) {
    int64_t times = 1;
    switch (node->kind) {
    case MC_NUMBER:
    case MC_SERIES:
    case MC_WEIGH: return;
    case MC_ATOM: atoms[node->atom].draw(s, node, view); return;
    case MC_SUM: draw_one_of(s, node, view); return;
    case MC_COLUMNS: {
        const mc_view inner = mc_view_columns(view, node);
        draw_node(s, node->child[0], &inner);
        return;
    }
    case MC_EXP: times = draw_poisson(s, known_mass(node->child[0])); break;
    case MC_POWER: times = (int64_t)fmin(node->number, 0x1p62); break;
    case MC_PRODUCT:
    case MC_NORMALIZE: break;
    }
    for (int64_t t = 0; t < times && goes_on(s); t++)
        for (int i = 0; i < node->children; i++)
            draw_node(s, node->child[i], view);
}

/* A rotation for every atom of normals, the first few of them. */
static mercer_status give_rotations(mercer_ctx *ctx, frequency_draw *s, const mc_node *node, int64_t d) {
    if (node->kind == MC_ATOM && atoms[node->atom].normals && s->rotations < ROTATIONS && d <= WIDE) {
        rotation *r = &s->rotation[s->rotations++];
        *r = (rotation){.node = node, .d = d, .block = -1, .last = -1};
        MC_TRY(MC_ALLOC(ctx, r->Q, d * d));
    }
    for (int i = 0; i < node->children; i++)
        MC_TRY(give_rotations(ctx, s, node->child[i], node->kind == MC_COLUMNS ? node->columns : d));
    return MERCER_OK;
}

mercer_status mc_spectrum_draw(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, uint64_t seed, int64_t count,
                               double *omega) {
    frequency_draw s = {.ctx = ctx, .seed = seed};
    mercer_status status = MC_ALLOC(ctx, s.z, d);
    MC_THEN(status, give_rotations(ctx, &s, kernel->root, d));
    const mc_view whole = {.d = d};
    memset(omega, 0, (size_t)(count * d) * sizeof *omega);
    for (s.j = 0; !status && s.j < count; s.j++) {
        s.rng = mc_rng_at(seed, MC_STREAM_FOURIER, (uint64_t)s.j);
        s.omega = omega + s.j * d;
        draw_node(&s, kernel->root, &whole);
        status = s.status;
    }
    for (int i = 0; i < s.rotations; i++)
        mc_free(s.rotation[i].Q);
    mc_free(s.z);
    return status;
}
