/* big_float.h: floating-point numbers of up to 512 bits, rounded up or down, with exponents that no product of doubles
   leaves.

   Proofs compare numbers that agree in more digits than a double has: 0.1*3 against 0.3. GMP and MPFR would do it, but
   they end the process when memory ends, which a library must not, they would be linked into every program that
   embeds this one, and what is needed of them is little: a sum, a product and a quotient. No memory is requested. */
#ifndef MC_KERNEL_PROOF_BIG_FLOAT_H
#define MC_KERNEL_PROOF_BIG_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum { MC_BIG_DIGITS = 16 };

/* sign * (digit[0] + digit[1] 2^32 + ...) * 2^(32 exponent). The first and the last digit are not 0, so equal numbers
   are equal in every field. sign 0: zero; digits 0 with a sign: infinity. */
typedef struct mc_big {
    int sign, digits;
    int64_t exponent;
    uint32_t digit[MC_BIG_DIGITS];
} mc_big;

typedef enum mc_rounding { MC_DOWN = -1, MC_UP = 1 } mc_rounding;

mc_big mc_big_of(double v); /* exact; v is not NaN */
double mc_big_to_double(const mc_big *a, mc_rounding side);
/* At most so many digits. */
mc_big mc_big_round(const mc_big *a, int digits, mc_rounding side);
bool mc_big_is_finite(const mc_big *a);
int mc_big_compare(const mc_big *a, const mc_big *b);
mc_big mc_big_negate(const mc_big *a);
/* 2^top is above |a| and 2^low divides it; a is finite and not 0. */
int64_t mc_big_top(const mc_big *a);
int64_t mc_big_low(const mc_big *a);

/* On that side of the exact result, which they are where it has 16 digits. Infinity stands for arbitrarily large
   numbers: 0 times it is 0, and of infinity - infinity only the side is known. The divisor is not 0. */
mc_big mc_big_add(const mc_big *a, const mc_big *b, mc_rounding side);
mc_big mc_big_multiply(const mc_big *a, const mc_big *b, mc_rounding side);
mc_big mc_big_divide(const mc_big *a, const mc_big *b, mc_rounding side);

#endif
