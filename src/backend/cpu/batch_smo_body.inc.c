/* batch_smo_body.inc.c: included once per precision of K with REAL and F(name). See batch_smo_body.h. */

static void F(gather_row_entries)(const void *row, const int64_t *column, int64_t count, float *out) {
    for (int64_t b = 0; b < count; b++)
        out[b] = (float)((const REAL *)row)[column[b]];
}

/* ROWS rows for all programs: an entry of K is widened once. */
static void F(add_rows)(const void *const *rows, const double *c, int64_t programs, int64_t begin, int64_t end,
                        double *const *f) {
    typedef REAL narrow __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL))));
    for (int64_t j = begin; j < end; j += 8) {
        eight x[ROWS];
        ALL(k)
        x[k] = __builtin_convertvector(*(const narrow *)(const void *)((const REAL *)rows[k] + j), eight);
        for (int64_t r = 0; r < programs; r++) {
            const double *share = c + r;
            eight even = *(const eight *)(const void *)(f[r] + j), odd = {0};
            ALL(k)
            if (k % 2)
                odd += share[k * MC_BATCH] * x[k];
            else
                even += share[k * MC_BATCH] * x[k];
            *(eight *)(void *)(f[r] + j) = even + odd;
        }
    }
}

static void F(add_row)(const REAL *row, const double *c, int64_t programs, int64_t begin, int64_t end,
                       double *const *f) {
    for (int64_t r = 0; r < programs; r++)
        for (int64_t j = begin; j < end; j++)
            f[r][j] += c[r] * (double)row[j];
}

static void F(update_gradients)(const void *const *rows, const double *c, int64_t count, int64_t programs,
                                int64_t begin, int64_t end, double *const *f) {
    const int64_t full = begin + (end - begin) / 8 * 8;
    int64_t k = 0;
    for (; k + ROWS <= count; k += ROWS)
        F(add_rows)(rows + k, c + k * MC_BATCH, programs, begin, full, f);
    for (; k < count; k++)
        F(add_row)(rows[k], c + k * MC_BATCH, programs, begin, full, f);
    for (k = 0; k < count; k++)
        F(add_row)(rows[k], c + k * MC_BATCH, programs, full, end, f);
}
