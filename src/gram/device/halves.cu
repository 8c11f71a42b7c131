/* halves.cu: a float as the nearest half, and back, without an instruction of the card. */
FUNCTION unsigned half_bits(float v) {
    const unsigned b = (unsigned)BITS(v), sign = b >> 16 & 0x8000, m = (b & 0x7fffff) | 0x800000;
    const int e = (int)(b >> 23 & 255) - 127, shift = e < -14 ? -1 - e : 13;
    if (e < -25)
        return sign;
    const unsigned rest = m & ((1u << shift) - 1), middle = 1u << (shift - 1);
    unsigned q = m >> shift;
    q += rest > middle || (rest == middle && (q & 1));
    return sign | (e < -14 ? q : q + ((unsigned)(e + 14) << 10));
}
FUNCTION float half_value(unsigned h) {
    const unsigned e = h >> 10 & 31, m = h & 0x3ff;
    const float v = e ? FROM_BITS((int)((e + 112) << 23 | m << 13)) : (float)m * 0x1p-24f;
    return h & 0x8000 ? -v : v;
}
