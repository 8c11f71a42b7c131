/* smo_body.c: the bodies of smo_body.h for one instruction set; compiled once per set with ISA_TABLE naming the table.
   */
#include "backend/cpu/smo_pair.h"
#include "backend/smo_body.h"
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef double double_lanes __attribute__((vector_size(64)));
typedef float float_lanes __attribute__((vector_size(64)));

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

enum { CHAINS = 2 };

/* Slopes in double. */
#define ALL_LANES __m512d
#define LANE_MASK __mmask8
#define LARGER_OF _mm512_max_pd
#define SMALLER_OF _mm512_min_pd
#define LARGEST_OF _mm512_reduce_max_pd
#define EQUAL_LANES(a, x) _mm512_cmp_pd_mask(a, _mm512_set1_pd(x), _CMP_EQ_OQ)
#define GREATER_LANES(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ)
#define TAKE_WHERE _mm512_mask_mov_pd
#define TAKE_PLACE_WHERE(at, mask, place) _mm512_mask_mov_epi64(at, mask, _mm512_set1_epi64(place))
#define SLOPE double
#define PLACE int64_t
#define LANES 8
#define STATE(p) (*(p))
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
#undef STATE
#undef LANES
#undef PLACE
#undef SLOPE
#undef TAKE_PLACE_WHERE
#undef TAKE_WHERE
#undef GREATER_LANES
#undef EQUAL_LANES
#undef LARGEST_OF
#undef SMALLER_OF
#undef LARGER_OF
#undef LANE_MASK
#undef ALL_LANES

/* Slopes in floats, twice as many to a vector. */
#define ALL_LANES __m512
#define LANE_MASK __mmask16
#define LARGER_OF _mm512_max_ps
#define SMALLER_OF _mm512_min_ps
#define LARGEST_OF _mm512_reduce_max_ps
#define EQUAL_LANES(a, x) _mm512_cmp_ps_mask(a, _mm512_set1_ps(x), _CMP_EQ_OQ)
#define GREATER_LANES(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define TAKE_WHERE _mm512_mask_mov_ps
#define TAKE_PLACE_WHERE(at, mask, place) _mm512_mask_mov_epi32(at, mask, _mm512_set1_epi32(place))
#define SLOPE float
#define PLACE int32_t
#define LANES 16
#define STATE(p) ((p)->rough)
#define REAL float
#define F(name) name##_rough
#include "backend/cpu/smo_body.inc.c"

const mc_smo_body ISA_TABLE[2] = {
    [MERCER_F32] = {update_gradient_f32, gather_row_entries_f32, solve_working_set_f32, solve_working_set_rough},
    [MERCER_F64] = {update_gradient_f64, gather_row_entries_f64, solve_working_set_f64, NULL}};
