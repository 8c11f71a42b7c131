/* smo_rows_body.inc.c: what is done with rows of K alone. Included once per precision with REAL and F(name). See
   smo_body.h. */

static void F(update_gradient)(const void *const *rows, const double *c, int64_t count, int64_t begin, int64_t end,
                               double *f) {
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const REAL *r0 = rows[k], *r1 = rows[k + 1], *r2 = rows[k + 2], *r3 = rows[k + 3];
        const double c0 = c[k], c1 = c[k + 1], c2 = c[k + 2], c3 = c[k + 3];
        for (int64_t j = begin; j < end; j++)
            f[j] += (c0 * (double)r0[j] + c1 * (double)r1[j]) + (c2 * (double)r2[j] + c3 * (double)r3[j]);
    }
    for (; k < count; k++) {
        const REAL *r = rows[k];
        for (int64_t j = begin; j < end; j++)
            f[j] += c[k] * (double)r[j];
    }
}

static void F(gather_row_entries)(const void *row, const int64_t *column, int64_t count, void *out) {
    for (int64_t b = 0; b < count; b++)
        ((REAL *)out)[b] = column[b] < 0 ? 0 : ((const REAL *)row)[column[b] < 0 ? 0 : column[b]];
}
