/* smo_body.c: the bodies of smo_body.h for one instruction set; compiled once per set with ISA_TABLE naming the table.
   */
#include "backend/cpu/smo_pair.h"
#include "backend/smo_body.h"
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef struct best {
    double value;
    int64_t at; /* -1: none */
} best;

typedef double double_lanes __attribute__((vector_size(64)));
typedef float float_lanes __attribute__((vector_size(64)));

/* The lanes of a vector in another order. */
#if defined(__clang__)
#define TAKE_LANES(x, from)                                                                                            \
    __extension__({                                                                                                    \
        __typeof__(x) taken_ = (x);                                                                                    \
        for (int l_ = 0; l_ < LANES; l_++)                                                                             \
            taken_[l_] = (x)[(from)[l_]];                                                                              \
        taken_;                                                                                                        \
    })
#else
#define TAKE_LANES(x, from) __builtin_shuffle(x, from)
#endif

/* The lane that alone has the largest value, above minus infinity: most often there is one, and nothing to compare. -1
   where there is none, or where that is not asked. */
static inline int lone_best_of_doubles(const double_lanes *value) {
#if defined(__AVX512F__)
    const double top = _mm512_reduce_max_pd((__m512d)*value);
    const uint32_t here = _mm512_cmp_pd_mask((__m512d)*value, _mm512_set1_pd(top), _CMP_EQ_OQ);
    return top > -INFINITY && here && !(here & (here - 1)) ? __builtin_ctz(here) : -1;
#else
    (void)value;
    return -1;
#endif
}

static inline int lone_best_of_floats(const float_lanes *value) {
#if defined(__AVX512F__)
    const float top = _mm512_reduce_max_ps((__m512)*value);
    const uint32_t here = _mm512_cmp_ps_mask((__m512)*value, _mm512_set1_ps(top), _CMP_EQ_OQ);
    return top > -INFINITY && here && !(here & (here - 1)) ? __builtin_ctz(here) : -1;
#else
    (void)value;
    return -1;
#endif
}

/* Compilers convert eight floats in two halves, which costs more than the step. */
static inline double_lanes widened_f32(const float *p) {
#if defined(__AVX512F__)
    return (double_lanes)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
    typedef float row __attribute__((vector_size(32), aligned(4)));
    return __builtin_convertvector(*(const row *)(const void *)p, double_lanes);
#endif
}

static inline double_lanes widened_f64(const double *p) {
    typedef double row __attribute__((vector_size(64), aligned(8)));
    return *(const row *)(const void *)p;
}

static inline float_lanes widened_rough(const float *p) {
    typedef float row __attribute__((vector_size(64), aligned(4)));
    return *(const row *)(const void *)p;
}

/* Slopes in double. */
#define SLOPE double
#define PLACE int64_t
#define LANES 8
#define STATE(p) (*(p))
#define LONE_BEST lone_best_of_doubles
#define REAL float
#define F(name) name##_f32
#include "backend/cpu/smo_body.inc.c"
#include "backend/cpu/smo_rows_body.inc.c"
#undef REAL
#undef F
#define REAL double
#define F(name) name##_f64
#include "backend/cpu/smo_body.inc.c"
#include "backend/cpu/smo_rows_body.inc.c"
#undef REAL
#undef F
#undef LONE_BEST
#undef STATE
#undef LANES
#undef PLACE
#undef SLOPE

/* Slopes in floats, twice as many to a vector. */
#define SLOPE float
#define PLACE int32_t
#define LANES 16
#define STATE(p) ((p)->rough)
#define LONE_BEST lone_best_of_floats
#define REAL float
#define F(name) name##_rough
#include "backend/cpu/smo_body.inc.c"

const mc_smo_body ISA_TABLE[2] = {
    [MERCER_F32] = {update_gradient_f32, gather_row_entries_f32, solve_working_set_f32, solve_working_set_rough},
    [MERCER_F64] = {update_gradient_f64, gather_row_entries_f64, solve_working_set_f64, NULL}};
