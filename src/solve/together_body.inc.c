/* together_body.inc.c: included once per precision of K with REAL and F(name). See together_body.h. */

static void F(gather)(const void *row, const int64_t *column, int64_t count, float *out) {
    for (int64_t b = 0; b < count; b++)
        out[b] = (float)((const REAL *)row)[column[b]];
}

static void F(add_four)(const void *const *rows, const double *c, int64_t voices, int64_t begin, int64_t end, double *const *f) {
    const REAL *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
    for (int64_t r = 0; r < voices; r++) {
        double *to = f[r];
        const double c0 = c[r], c1 = c[MC_VOICES + r], c2 = c[2 * MC_VOICES + r], c3 = c[3 * MC_VOICES + r];
        if (c0 == 0 && c1 == 0 && c2 == 0 && c3 == 0)
            continue;
        for (int64_t j = begin; j < end; j++)
            to[j] += (c0 * (double)r0[j] + c1 * (double)r1[j]) + (c2 * (double)r2[j] + c3 * (double)r3[j]);
    }
}

static void F(accumulate)(const void *const *rows, const double *c, int64_t count, int64_t voices, int64_t begin, int64_t end,
                          double *const *f) {
    int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        F(add_four)(rows + k, c + k * MC_VOICES, voices, begin, end, f);
    for (; k < count; k++)
        for (int64_t r = 0; r < voices; r++)
            for (int64_t j = begin; j < end; j++)
                f[r][j] += c[k * MC_VOICES + r] * (double)((const REAL *)rows[k])[j];
}
