/* tile_body.c: the tile bodies of one instruction set, in both precisions. Compiled once per instruction set with that
   set's flags, ISA_HEADER and ISA_TABLE; everything but the table is static, so that no code of one set can be called
   from another. */
#include "backend/tile.h"
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(MC_NO_UNROLL) /* under sanitizers, whose instrumented code would take minutes to compile unrolled */
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define BITS 32
#define F(name) name##_f32
#include "backend/cpu/tile_body.inc.c"
#undef BITS
#undef F

#define BITS 64
#define F(name) name##_f64
#include "backend/cpu/tile_body.inc.c"

#define TABLE(p, roundoff)                                                                                             \
    {                                                                                                                  \
        .rows = rows_##p, .columns = columns_##p, .lanes = lanes_##p, .unit = (roundoff),                              \
        .accuracy = &mc_tile_cpu_accuracy, .statistic = accumulate_statistic_##p, .radial = distances_from_dots_##p,   \
        .angle = angles_from_dots_##p, .step = apply_elementwise_step_##p, .fused = fused_kernel_product_##p,          \
        .product = multiply_strip_vector_##p, .sum = sum_rows_##p, .products = multiply_strip_matrix_##p,              \
        .sparse = sparse_statistic_##p, .align = align_texts_##p, .bytes = dot_uint8_panels_##p,                       \
        .exp2 = exp2_array_##p                                                                                         \
    }

const mc_tile_ops ISA_TABLE[2] = {[MERCER_F32] = TABLE(f32, 0x1p-24), [MERCER_F64] = TABLE(f64, 0x1p-53)};
