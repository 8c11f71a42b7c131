/* smo_body.c: the bodies of smo_body.h for one instruction set; compiled once per set with ISA_TABLE naming the table.
   */
#include "backend/cpu/smo_pair.h"
#include "backend/smo_body.h"
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* Eight lanes of doubles; the compiler splits them where registers are shorter. */
typedef double lanes __attribute__((vector_size(64)));
typedef int64_t masks __attribute__((vector_size(64)));

#define PICK(mask, yes, no) ((lanes)(((masks)(yes) & (mask)) | ((masks)(no) & ~(mask))))
#define AT(array, place) (*(const lanes *)(const void *)((array) + (place)))

typedef struct best {
    double value;
    int64_t at; /* -1: none */
} best;

/* The best lane; the lowest place among equals, so that the answer does not depend on how the lanes are laid out. */
static best best_of_lanes(const lanes *value, const masks *at) {
    best b = {-INFINITY, -1};
    for (int l = 0; l < MC_LANES; l++) {
        const double x = (*value)[l];
        const int64_t place = (*at)[l] + l;
        if (x > b.value || (x == b.value && x > -INFINITY && place < b.at))
            b = (best){x, place};
    }
    return b;
}

/* Most often one lane alone has the largest value: then there is nothing to compare. */
static inline best best_lane(const lanes *value, const masks *at) {
#if defined(__AVX512F__)
    const double top = _mm512_reduce_max_pd((__m512d)*value);
    const uint32_t here = _mm512_cmp_pd_mask((__m512d)*value, _mm512_set1_pd(top), _CMP_EQ_OQ);
    const int l = __builtin_ctz(here | 1u << MC_LANES);
    if (top > -INFINITY && here == 1u << l)
        return (best){top, (*at)[l] + l};
#endif
    return best_of_lanes(value, at);
}

/* Compilers convert eight floats in two halves, which costs more than the step. */
static inline lanes widened_f32(const float *p) {
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
    typedef float row __attribute__((vector_size(32), aligned(4)));
    return __builtin_convertvector(*(const row *)(const void *)p, lanes);
#endif
}

static inline lanes widened_f64(const double *p) {
    typedef double row __attribute__((vector_size(64), aligned(8)));
    return *(const row *)(const void *)p;
}

#define REAL float
#define F(name) name##_f32
#include "backend/cpu/smo_body.inc.c"
#undef REAL
#undef F
#define REAL double
#define F(name) name##_f64
#include "backend/cpu/smo_body.inc.c"

const mc_smo_body ISA_TABLE[2] = {[MERCER_F32] = {update_gradient_f32, gather_row_entries_f32, solve_working_set_f32},
                                  [MERCER_F64] = {update_gradient_f64, gather_row_entries_f64, solve_working_set_f64}};
