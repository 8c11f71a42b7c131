/* math.inc.c: elementary functions on vectors. Coefficients: minimax in relative error by Remez's algorithm, 50 digits.
   Within 2 units in the last place of the true value where not said otherwise. 2^0 is exactly 1: equal points have the
   kernel of a point with itself. */

#if BITS == 32
#define EXP2_DEGREE 5
#define LOG2_DEGREE 3
#define ASIN_DEGREE 4
#define SINC_DEGREE 4
#else
#define EXP2_DEGREE 11
#define LOG2_DEGREE 7
#define ASIN_DEGREE 10
#define SINC_DEGREE 8
#endif

/* c_0 + c_1 x + ... by Horner's rule. */
INLINE V F(evaluate_polynomial)(const REAL *c, int degree, V x) {
    V p = F(broadcast_scalar)(c[degree]);
    for (int i = degree - 1; i >= 0; i--)
        p = p * x + c[i];
    return p;
}

#if HAS_SCALEF
/* 2^f on [0, 1], then 2^floor(x). */
static const REAL F(exp2_c)[] = {
#if BITS == 32
    1.0f, 6.9315131258e-01f, 2.4016444443e-01f, 5.5799927633e-02f, 9.0170151327e-03f, 1.8671357208e-03f
#else
    1.000000000000000000e+00,
    6.931471805599462854e-01,
    2.402265069590547031e-01,
    5.550410866571112850e-02,
    9.618129098792621220e-03,
    1.333355866158021435e-03,
    1.540351144625422665e-04,
    1.525319025490353972e-05,
    1.320819340612926573e-06,
    1.025445815304308630e-07,
    6.554453518717298272e-09,
    6.272441697279566982e-10
#endif
};

INLINE V F(vexp2_by)(const REAL *c, V x) {
    return F(scale_by_exponent)(F(evaluate_polynomial)(c, EXP2_DEGREE, F(fractional_part)(x)), x);
}

INLINE V F(vexp2)(V x) {
    return F(vexp2_by)(F(exp2_c), x);
}

INLINE V F(vexp2_any)(V x) {
    return F(vexp2)(x);
}
#else
/* 2^f on [-1/2, 1/2], then the nearest whole number is added to the exponent. Adding 1.5 * 2^mantissa rounds x there
   and leaves the whole number in the low bits. Below the smallest normal number the result stays at that number; x must
   be below the largest exponent. */
static const REAL F(exp2_c)[] = {
#if BITS == 32
    1.0f, 6.9314697753e-01f, 2.4022242124e-01f, 5.5507339628e-02f, 9.6715113244e-03f, 1.3264652392e-03f
#else
    1.000000000000000000e+00,
    6.931471805599452862e-01,
    2.402265069591015545e-01,
    5.550410866481992472e-02,
    9.618129107588331908e-03,
    1.333355814678982738e-03,
    1.540353046251782842e-04,
    1.525273349006378902e-05,
    1.321543308812515027e-06,
    1.017819799551621105e-07,
    7.074105862366030874e-09,
    4.435286058743639332e-10
#endif
};

INLINE V F(vexp2_by)(const REAL *c, V x) {
    const REAL lowest = BITS == 32 ? -126 : -1022, shift = BITS == 32 ? (REAL)0x1.8p23 : (REAL)0x1.8p52;
    x = F(vmax)(F(broadcast_scalar)(lowest), x);
    const V whole = x + shift, p = F(evaluate_polynomial)(c, EXP2_DEGREE, x - (whole - shift));
    return (V)((VI)p + ((VI)whole << MANTISSA));
}

INLINE V F(vexp2)(V x) {
    return F(vexp2_by)(F(exp2_c), x);
}

/* The square of 2^(x/2) overflows and underflows as 2^x must. */
INLINE V F(vexp2_any)(V x) {
    const REAL highest = BITS == 32 ? 127 : 1023;
    const V half = F(vexp2)(F(vmin)(F(broadcast_scalar)(highest), x * (REAL)0.5));
    return half * half;
}
#endif

/* log2(m) = s P(s^2) with s = (m - 1) / (m + 1) and m in [sqrt(1/2), sqrt(2)]. */
static const REAL F(log2_c)[] = {
#if BITS == 32
    2.8853900798e+00f, 9.6179885422e-01f, 5.7671363963e-01f, 4.3175609957e-01f
#else
    2.885390081777926774e+00, 9.617966939259898762e-01, 5.770780163454080069e-01,
    4.121985858651630585e-01, 3.205985324240823164e-01, 2.623344832796909998e-01,
    2.209096873875569800e-01, 2.136935352865481086e-01
#endif
};

/* log2 x of normal positive numbers. */
INLINE V F(vlog2)(V x) {
    const UNSIGNED root_half = BITS == 32 ? (UNSIGNED)0x3f3504f3 : (UNSIGNED)0x3fe6a09e667f3bcd;
    const UNSIGNED bias = ((UNSIGNED)1 << (BITS - 2 - MANTISSA)) - 1;
    const REAL anchor = BITS == 32 ? (REAL)0x1p23 : (REAL)0x1p52;
    const VU exponent = ((VU)x - root_half + (bias << MANTISSA)) >> MANTISSA;
    const V whole = (V)((VU)F(broadcast_scalar)(anchor) | exponent) - (anchor + (REAL)bias);
    const V m = (V)((VU)x - ((exponent - bias) << MANTISSA));
    const V s = (m - 1) * F(vreciprocal)(m + 1);
    return whole + s * F(evaluate_polynomial)(F(log2_c), LOG2_DEGREE, s * s);
}

/* log2(1 + q) of q >= 0: what the sum rounds off is added again, so that small q keep their digits. */
INLINE V F(vlog2_from_1)(V q) {
    const V x = 1 + q, lost = q - (x - 1);
    return F(vlog2)(x) + lost * F(vreciprocal)(x) * (REAL)1.44269504088896340736;
}

/* log2 |x| of any x but 0; NaN of infinities. */
INLINE V F(vlog2_size)(V x) {
    const REAL least = BITS == 32 ? (REAL)0x1p-126 : (REAL)0x1p-1022, lift = (REAL)0x1p64;
    const V a = F(vabs)(x), small = least - a;
    return F(vlog2)(F(select_if_positive)(small, a * lift, a))
           - F(select_if_positive)(small, F(broadcast_scalar)(64), (V){0}) + (a - a);
}

/* x^p for a p that is no number to square up to: 0 and negative numbers as the C function pow has them. parity: 1 or 2
   of an odd or an even p, 0 of one that is not whole. */
INLINE V F(vreal_power)(V x, REAL p, int64_t parity) {
    const V y = F(vexp2_any)(p * F(vlog2_size)(x)), below = parity == 0   ? F(broadcast_scalar)((REAL)NAN)
                                                            : parity == 1 ? -y
                                                                          : y;
    return F(select_if_positive)(
        x, y, F(select_if_positive)(-x, below, x + (p > 0 ? 0 : (REAL)INFINITY))); /* 0, or NaN which stays so */
}

/* x^n by squaring, n >= 0; exact powers stay exact. */
INLINE V F(vpower_by_squaring)(V x, uint64_t n) {
    V y = n & 1 ? x : F(broadcast_scalar)(1);
    while (n >>= 1) {
        x = x * x;
        if (n & 1)
            y = y * x;
    }
    return y;
}

INLINE V F(vwhole_power)(V x, int64_t n) {
    return n < 0 ? 1 / F(vpower_by_squaring)(x, (uint64_t)-n) : F(vpower_by_squaring)(x, (uint64_t)n);
}

/* tanh x = 1 - 2 / (1 + e^2x): the error is absolute, one unit in the last place of 1. */
INLINE V F(vtanh)(V x) {
    const V bounded = F(vmin)(F(broadcast_scalar)(120), x * (REAL)2.885390081777926815);
    return 1 - 2 * F(vreciprocal)(1 + F(vexp2_any)(bounded));
}

/* sin(pi r) / (pi r) as a polynomial of r^2 up to 1/4, 1 at 0. */
static const REAL F(sinc_c)[] = {
#if BITS == 32
    1.0f, -1.6449339975e+00f, 8.1173354175e-01f, -1.9057367531e-01f, 2.4999967743e-02f
#else
    1.000000000000000000e+00, -1.644934066848226433e+00, 8.117424252833519424e-01,
    -1.907518241219412791e-01, 2.614784781307880723e-02, -2.346080963492399610e-03,
    1.484281681769361754e-04, -6.972960555564220376e-06, 2.459180384815939380e-07
#endif
};

/* sin(pi t) / (pi t), which is +-(r/t) of its value at r = t - n, n the whole number nearest to t: + where that is
   even. From where on all t are whole numbers r is anything up to 1/2, and the value below a rounding of 1. */
INLINE V F(vsinc)(V t) {
    const REAL shift = BITS == 32 ? (REAL)0x1.8p23 : (REAL)0x1.8p52;
    const V half = F(broadcast_scalar)((REAL)0.5), a = F(vabs)(t), shifted = a + shift;
    const V r = F(vmax)(-half, F(vmin)(half, a - (shifted - shift)));
    const V share = F(select_if_positive)(half - a, F(broadcast_scalar)(1), r / F(vmax)(half, a));
    const V value = share * F(evaluate_polynomial)(F(sinc_c), SINC_DEGREE, r * r);
    return (V)((VU)value ^ ((VU)shifted << (BITS - 1)));
}

/* asin(sqrt(q)) / sqrt(q) for q up to sin^2(pi/8). */
static const REAL F(asin_c)[] = {
#if BITS == 32
    1.0000000042e+00f, 1.6666527019e-01f, 7.5074500157e-02f, 4.3267751741e-02f, 4.0422682410e-02f
#else
    1.000000000000000000e+00, 1.666666666666581642e-01, 7.500000000229897767e-02, 4.464285690086771535e-02,
    3.038195748229831697e-02, 2.237175050898679296e-02, 1.736071052492904263e-02, 1.386632706495202066e-02,
    1.232635915902398870e-02, 6.077074875224105881e-03, 1.765630282024712588e-02
#endif
};

/* The angle t in [0, pi/2] between unit vectors at squared distance a = 4 sin^2(t/2) <= 2, by halving it once more:
   sin^2(t/4) = (1 - cos(t/2)) / 2 = (a/4) / (2 + 2 cos(t/2)). */
INLINE V F(vangle_from_distance)(V a) {
    const V z = a * (REAL)0.25, cosine = F(vsqrt)(1 - z), q = z * F(vreciprocal)(2 + 2 * cosine);
    return 4 * F(vsqrt)(q) * F(evaluate_polynomial)(F(asin_c), ASIN_DEGREE, q);
}

/* asin s: by its polynomial near 0, where the digits count from the first that is not 0, else by the angle. */
INLINE V F(varc_sine)(V s) {
    const REAL half_pi = (REAL)1.57079632679489661923, least = (REAL)0.1464,
               most = 1 + (BITS == 32 ? 0x1p-12f : 0x1p-40);
    const V a = F(vabs)(s), q = s * s, one = F(broadcast_scalar)(1);
    const V near = a * F(evaluate_polynomial)(F(asin_c), ASIN_DEGREE, F(vmin)(F(broadcast_scalar)(least), q));
    const V far = half_pi - F(vangle_from_distance)(2 - 2 * F(vmin)(one, a));
    const V v = F(select_if_positive)(least - q, near, far);
    return F(select_if_positive)(a - most, F(broadcast_scalar)((REAL)NAN), F(select_if_positive)(-s, -v, v)) + (s - s);
}

/* -log(1 - s); what 1 - s rounds off is added again. */
INLINE V F(vlog_series)(V s) {
    const REAL ln2 = (REAL)0.693147180559945309417, least = BITS == 32 ? (REAL)0x1p-24 : (REAL)0x1p-53;
    const V x = 1 - s, lost = (1 - x) - s, safe = F(vmax)(F(broadcast_scalar)(least), x);
    const V v = -(F(vlog2)(safe) * ln2 + lost * F(vreciprocal)(safe));
    return F(select_if_positive)(x, v, F(broadcast_scalar)((REAL)NAN)) + (s - s);
}

/* sum (s^2/4)^n/n!^2, of which all terms are positive: from n = |s| on each is less than a quarter of the one before.
   The largest |s| says how many there are, for all alike. */
INLINE V F(vbessel_i0)(V s) {
    const REAL most = BITS == 32 ? 200 : 1600;
    const V q = s * (REAL)0.5 * (s * (REAL)0.5);
    REAL size[LANES], largest = 0;
    F(store_vector)(size, F(vabs)(s));
    for (int i = 0; i < LANES; i++)
        largest = size[i] > largest ? size[i] : largest;
    const int terms = (BITS == 32 ? 14 : 29) + (int)(largest < most ? largest : most);
    V sum = F(broadcast_scalar)(1), term = sum;
    for (int n = 1; n < terms; n++) {
        term = term * q * (1 / ((REAL)n * (REAL)n));
        sum = sum + term;
    }
    return sum;
}

#undef EXP2_DEGREE
#undef LOG2_DEGREE
#undef ASIN_DEGREE
#undef SINC_DEGREE
