/* dense_host.inc.c: the body of dense_host.c, in the precision that real, F and the names of BLAS say. */

static void F(gemm)(bool ta, bool tb, int64_t rows, int64_t columns, int64_t depth, double alpha, const void *a,
                    int64_t lda, const void *b, int64_t ldb, double beta, void *c, int64_t ldc) {
    const int m = (int)rows, n = (int)columns, k = (int)depth, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
    const real one = (real)alpha, rest = (real)beta;
    const mc_region region = mc_blas_begin();
    GEMM(OP(ta), OP(tb), &m, &n, &k, &one, a, &la, b, &lb, &rest, c, &lc, 1, 1);
    mc_blas_end(region);
}

static void F(gemv)(bool trans, int64_t rows, int64_t columns, double alpha, const void *a, int64_t lda, const void *x,
                    int64_t incx, double beta, void *y, int64_t incy) {
    const int m = (int)rows, n = (int)columns, la = (int)lda, sx = (int)incx, sy = (int)incy;
    const real one = (real)alpha, rest = (real)beta;
    const mc_region region = mc_blas_begin();
    GEMV(OP(trans), &m, &n, &one, a, &la, x, &sx, &rest, y, &sy, 1);
    mc_blas_end(region);
}

static void F(syrk)(bool upper, bool trans, int64_t order, int64_t depth, double alpha, const void *a, int64_t lda,
                    double beta, void *c, int64_t ldc) {
    const int n = (int)order, k = (int)depth, la = (int)lda, lc = (int)ldc;
    const real one = (real)alpha, rest = (real)beta;
    const mc_region region = mc_blas_begin();
    SYRK(HALF(upper), OP(trans), &n, &k, &one, a, &la, &rest, c, &lc, 1, 1);
    mc_blas_end(region);
}

static void F(trmm)(bool right, bool upper, bool trans, int64_t rows, int64_t columns, double alpha, const void *a,
                    int64_t lda, void *b, int64_t ldb) {
    const int m = (int)rows, n = (int)columns, la = (int)lda, lb = (int)ldb;
    const real one = (real)alpha;
    const mc_region region = mc_blas_begin();
    TRMM(right ? "R" : "L", HALF(upper), OP(trans), "N", &m, &n, &one, a, &la, b, &lb, 1, 1, 1, 1);
    mc_blas_end(region);
}

static void F(trsm)(bool right, bool upper, bool trans, int64_t rows, int64_t columns, double alpha, const void *a,
                    int64_t lda, void *b, int64_t ldb) {
    const int m = (int)rows, n = (int)columns, la = (int)lda, lb = (int)ldb;
    const real one = (real)alpha;
    const mc_region region = mc_blas_begin();
    TRSM(right ? "R" : "L", HALF(upper), OP(trans), "N", &m, &n, &one, a, &la, b, &lb, 1, 1, 1, 1);
    mc_blas_end(region);
}

static void F(trsv)(bool upper, bool trans, int64_t order, const void *a, int64_t lda, void *x, int64_t incx) {
    const int n = (int)order, la = (int)lda, sx = (int)incx;
    const mc_region region = mc_blas_begin();
    TRSV(HALF(upper), OP(trans), "N", &n, a, &la, x, &sx, 1, 1, 1);
    mc_blas_end(region);
}

static int64_t F(potrf)(bool upper, int64_t order, void *a, int64_t lda) {
    const int n = (int)order, la = (int)lda;
    int info = 0;
    const mc_region region = mc_blas_begin();
    POTRF(HALF(upper), &n, a, &la, &info, 1);
    mc_blas_end(region);
    return info;
}

/* A zero on the diagonal would set info, which a factor does not have. */
static void F(trtri)(bool upper, int64_t order, void *a, int64_t lda) {
    const int n = (int)order, la = (int)lda;
    int info = 0;
    const mc_region region = mc_blas_begin();
    TRTRI(HALF(upper), "N", &n, a, &la, &info, 1, 1);
    mc_blas_end(region);
}

/* Only a wrong argument sets info. */
static void F(lauum)(bool upper, int64_t order, void *a, int64_t lda) {
    const int n = (int)order, la = (int)lda;
    int info = 0;
    const mc_region region = mc_blas_begin();
    LAUUM(HALF(upper), &n, a, &la, &info, 1);
    mc_blas_end(region);
}
