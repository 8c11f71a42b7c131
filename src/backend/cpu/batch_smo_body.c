/* batch_smo_body.c: the bodies of batch_smo_body.h for one instruction set; compiled once per set with ISA_TABLE naming
   the table. */
#include "backend/cpu/smo_pair.h"
#include "backend/batch_smo_body.h"
#include <math.h>
#include <stdbool.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Sixteen lanes of floats; the compiler splits them where registers are shorter. A comparison waits for the one before
   it, so each loop follows several at once, CHAINS. */
typedef float lanes __attribute__((vector_size(64)));
typedef float anywhere __attribute__((vector_size(64), aligned(4)));
typedef int32_t masks __attribute__((vector_size(64)));
enum { CHAINS = MC_STRIDE / MC_WIDE };
#define EACH(u) _Pragma("GCC unroll 4") for (int u = 0; u < CHAINS; u++)

#define PICK(mask, yes, no) ((lanes)(((masks)(yes) & (mask)) | ((masks)(no) & ~(mask))))
#define AT(array, place) (*(const lanes *)(const void *)((array) + (place)))
#define OF(row, place)                                                                                                 \
    ((lanes) * (const anywhere *)(const void *)((row) + (place))) /* of K, whose rows begin anywhere */

/* Of equals, or where a is not a number, b. */
#ifdef __AVX512F__
#define LARGER(a, b) ((lanes)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define SMALLER(a, b) ((lanes)_mm512_min_ps((__m512)(a), (__m512)(b)))
#else
#define LARGER(a, b) PICK((a) > (b), a, b)
#define SMALLER(a, b) PICK((a) < (b), a, b)
#endif

static inline float largest_lane(const lanes *x) {
#ifdef __AVX512F__
    return _mm512_reduce_max_ps((__m512)*x);
#else
    float top = (*x)[0];
    for (int l = 1; l < MC_WIDE; l++)
        top = (*x)[l] > top ? (*x)[l] : top;
    return top;
#endif
}

/* v <- v - step (K_i - K_j); the largest v that may grow, and the smallest that may shrink. */
static void update_slopes(const mc_smo_block_f32 *p, const float *Ki, const float *Kj, float step, float *top,
                          float *bottom) {
    lanes high[CHAINS], low[CHAINS];
    EACH(u) {
        high[u] = (lanes){0} - INFINITY;
        low[u] = (lanes){0} + INFINITY;
    }
    for (int64_t t = 0; t < p->width; t += MC_STRIDE)
        EACH(u) {
            const int64_t a = t + u * MC_WIDE;
            const lanes v = AT(p->v, a) - step * (OF(Ki, a) - OF(Kj, a)), may_grow = v + AT(p->up, a),
                        may_shrink = v + AT(p->down, a);
            *(lanes *)(void *)(p->v + a) = v;
            high[u] = LARGER(may_grow, high[u]);
            low[u] = SMALLER(may_shrink, low[u]);
        }
    for (int u = 1; u < CHAINS; u++) {
        high[0] = LARGER(high[u], high[0]);
        low[0] = SMALLER(low[u], low[0]);
    }
    low[0] = -low[0];
    *top = largest_lane(&high[0]);
    *bottom = -largest_lane(&low[0]);
}

/* The first lane that is equal to x, or MC_WIDE. */
static int first_equal(const lanes *a, float x) {
#ifdef __AVX512F__
    const uint32_t here = _mm512_cmp_ps_mask((__m512)*a, _mm512_set1_ps(x), _CMP_EQ_OQ);
    return here ? __builtin_ctz(here) : MC_WIDE;
#else
    int l = 0;
    while (l < MC_WIDE && (*a)[l] != x)
        l++;
    return l;
#endif
}

/* Where the largest is: the first of equals. */
static int64_t place_of(const mc_smo_block_f32 *p, float top) {
    for (int64_t t = 0; t < p->width; t += MC_WIDE) {
        const lanes may_grow = AT(p->v, t) + AT(p->up, t);
        const int l = first_equal(&may_grow, top);
        if (l < MC_WIDE)
            return t + l;
    }
    return 0;
}

/* Where square / curvature is above gain / cost, the former. */
static inline void take_better(lanes square, lanes curvature, int32_t place, lanes *gain, lanes *cost, masks *at) {
#ifdef __AVX512F__
    const __mmask16 better = _mm512_cmp_ps_mask((__m512)(square * *cost), (__m512)(*gain * curvature), _CMP_GT_OQ);
    *gain = (lanes)_mm512_mask_mov_ps((__m512)*gain, better, (__m512)square);
    *cost = (lanes)_mm512_mask_mov_ps((__m512)*cost, better, (__m512)curvature);
    *at = (masks)_mm512_mask_mov_epi32((__m512i)*at, better, _mm512_set1_epi32(place));
#else
    const masks better = square * *cost > *gain * curvature, here = (masks){0} + place;
    *gain = PICK(better, square, *gain);
    *cost = PICK(better, curvature, *cost);
    *at = (here & better) | (*at & ~better);
#endif
}

/* Where the largest of all lanes is, the first of equals; where none is above 0 the first lane. */
static int64_t best_place(const lanes share[CHAINS], const masks at[CHAINS]) {
    lanes top = share[0];
    for (int u = 1; u < CHAINS; u++)
        top = LARGER(share[u], top);
    const float most = largest_lane(&top);
    for (int u = 0; u < CHAINS && most > 0; u++) {
        const int l = first_equal(&share[u], most);
        if (l < MC_WIDE)
            return at[u][l] + l;
    }
    return at[0][0];
}

/* The partner of i that lowers the objective most when both bounds are far: the largest gap^2 / curvature. Fractions
   are compared by cross multiplication. */
static int64_t select_partner(const mc_smo_block_f32 *p, int64_t i, float vi) {
    const float *Ki = p->K + i * p->ld, dii = p->diagonal[i];
    const lanes tiny = (lanes){0} + 1e-7f, none = {0};
    lanes gain[CHAINS], cost[CHAINS];
    masks at[CHAINS];
    EACH(u) {
        gain[u] = (lanes){0};
        cost[u] = (lanes){0} + 1;
        at[u] = (masks){0};
    }
    for (int64_t t = 0; t < p->width; t += MC_STRIDE)
        EACH(u) {
            const int64_t a = t + u * MC_WIDE;
            const lanes gap = LARGER(vi - (AT(p->v, a) + AT(p->down, a)), none);
            const lanes curvature = LARGER(dii + AT(p->diagonal, a) - 2 * OF(Ki, a), tiny), square = gap * gap;
            take_better(square, curvature, (int32_t)a, &gain[u], &cost[u], &at[u]);
        }
    EACH(u)
    gain[u] = gain[u] / cost[u];
    return best_place(gain, at);
}

static double step_pair(mc_smo_block_f32 *p, int64_t i, int64_t j) {
    const double curvature = (double)p->diagonal[i] + (double)p->diagonal[j] - 2 * (double)p->K[i * p->ld + j];
    const double step = mc_pair_step((double)p->v[i] - (double)p->v[j], curvature, p->low, p->high, i, j, p->beta);
    p->up[i] = p->beta[i] < p->high[i] ? 0 : -INFINITY;
    p->up[j] = 0;
    p->down[i] = 0;
    p->down[j] = p->beta[j] > p->low[j] ? 0 : INFINITY;
    return step;
}

static void solve_working_set(mc_smo_block_f32 *p) {
    const float *Ki = p->K, *Kj = p->K;
    double step = 0;
    for (;; p->steps++) {
        float top, bottom;
        update_slopes(p, Ki, Kj, (float)step, &top, &bottom);
        if (!((double)top - (double)bottom > p->tolerance) || p->steps == p->steps_max)
            return;
        const int64_t i = place_of(p, top), j = select_partner(p, i, top);
        step = step_pair(p, i, j);
        Ki = p->K + i * p->ld;
        Kj = p->K + j * p->ld;
    }
}

typedef double eight __attribute__((vector_size(64), aligned(8)));
enum { ROWS = 8 };
#define ALL(k) _Pragma("GCC unroll 8") for (int k = 0; k < ROWS; k++)

#define REAL float
#define F(name) name##_f32
#include "backend/cpu/batch_smo_body.inc.c"
#undef REAL
#undef F
#define REAL double
#define F(name) name##_f64
#include "backend/cpu/batch_smo_body.inc.c"

const mc_batch_smo_body ISA_TABLE[2] = {
    [MERCER_F32] = {solve_working_set, gather_row_entries_f32, update_gradients_f32},
    [MERCER_F64] = {solve_working_set, gather_row_entries_f64, update_gradients_f64}};
