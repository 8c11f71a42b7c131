/* decimal.c: the nearest double to D 10^q, decided by integers.

   A double b = M 2^e is right when D 10^q lies between the midpoints to its two neighbours. The midpoint above b is (2M
   + 1) 2^(e-1), so one comparison of D 5^q 2^q with (2M + 1) 2^(e-1), both sides made integers, tells on which side the
   decimal lies. The guess is moved until both comparisons hold.

   769 digits decide any double (the longest midpoint has 767); what follows them matters only by being there at all. */
#include "base/decimal.h"
#include <stdbool.h>
#include <string.h>

enum { LIMBS = 80, DIGITS = 769 };                    /* 80 x 64 bits; D 5^q and its partner stay below 64 x 64 */
static const uint64_t five_27 = 7450580596923828125u; /* the largest power of five below 2^63 */

typedef struct big {
    int count; /* limbs in use; the last is not zero */
    uint64_t limb[LIMBS];
} big;

static void push_limb(big *x, uint64_t limb) {
    if (limb && x->count < LIMBS)
        x->limb[x->count++] = limb;
}

/* x <- x factor + add */
static void multiply_add_big(big *x, uint64_t factor, uint64_t add) {
    for (int i = 0; i < x->count; i++) {
        const mc_u128 t = (mc_u128)x->limb[i] * factor + add;
        x->limb[i] = (uint64_t)t;
        add = (uint64_t)(t >> 64);
    }
    push_limb(x, add);
}

static void multiply_by_five(big *x, int64_t times) {
    for (; times >= 27; times -= 27)
        multiply_add_big(x, five_27, 0);
    for (; times > 0; times--)
        multiply_add_big(x, 5, 0);
}

/* x <- x 2^bits */
static void shift_big_left(big *x, int64_t bits) {
    const int64_t limbs = bits / 64;
    multiply_add_big(x, (uint64_t)1 << (bits % 64), 0);
    if (limbs == 0 || x->count == 0 || x->count + limbs > LIMBS)
        return;
    memmove(x->limb + limbs, x->limb, (size_t)x->count * sizeof x->limb[0]);
    memset(x->limb, 0, (size_t)limbs * sizeof x->limb[0]);
    x->count += (int)limbs;
}

static int compare_big(const big *x, const big *y) {
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    for (int i = x->count - 1; i >= 0; i--)
        if (x->limb[i] != y->limb[i])
            return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

/* D 10^q against the midpoint above the double with these bits. */
static int compare_midpoint(const big *digits, int64_t q, uint64_t bits) {
    const uint64_t fraction = bits & 0xfffffffffffffu;
    const int64_t biased = (int64_t)(bits >> 52);
    const uint64_t M = biased ? fraction | (uint64_t)1 << 52 : fraction;
    const int64_t e = (biased ? biased : 1) - 1075;
    big left = *digits, right = {0};
    push_limb(&right, 2 * M + 1);
    multiply_by_five(q >= 0 ? &left : &right, q >= 0 ? q : -q);
    const int64_t twos = q - (e - 1); /* left 2^twos against right */
    shift_big_left(twos >= 0 ? &left : &right, twos >= 0 ? twos : -twos);
    return compare_big(&left, &right);
}

/* D from at most DIGITS digits, eighteen at a time; a 1 after them stands for whatever follows. */
static big read_digits(const char *text, const char *end, int64_t *q) {
    big digits = {0};
    uint64_t part = 0, scale = 1;
    bool more = false;
    for (int taken = 0; text < end; text++) {
        if (*text == '.')
            continue;
        if (taken == DIGITS) {
            more |= *text != '0';
            *q += 1;
            continue;
        }
        taken++;
        part = 10 * part + (uint64_t)(*text - '0');
        scale *= 10;
        if (taken % 18 == 0) {
            multiply_add_big(&digits, scale, part);
            part = 0;
            scale = 1;
        }
    }
    multiply_add_big(&digits, scale, part);
    if (more) {
        multiply_add_big(&digits, 10, 1);
        *q -= 1;
    }
    return digits;
}

uint64_t mc_decimal_round(const char *text, const char *end, int64_t exponent, uint64_t guess) {
    int64_t q = exponent;
    const big digits = read_digits(text, end, &q);
    uint64_t bits = guess;
    const uint64_t infinity = (uint64_t)0x7ff << 52;
    for (int side; bits < infinity && ((side = compare_midpoint(&digits, q, bits)) > 0 || (side == 0 && bits & 1));)
        bits++;
    for (int side;
         bits > 0 && ((side = compare_midpoint(&digits, q, bits - 1)) < 0 || (side == 0 && (bits - 1) % 2 == 0));)
        bits--;
    return bits;
}
