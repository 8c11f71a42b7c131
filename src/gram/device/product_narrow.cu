/* product_narrow.cu: rows of few coordinates: a thread keeps some in registers and walks along the columns, which a
   block has in shared memory, record by record: coordinates, vectors, halves of norms, right-hand sides. */
/* k(x, z) of row r and the column whose record is in q. */
#ifdef LIFTED
#define VALUE \
    k = q[VECTOR0]; \
    UNROLL for (int f = 0; f < D0; f++) k = FMA(x0[r][f], q[f], k); \
    k = LIFTED_EXP2(k);
#else
#define SUM(p) \
    s[3 * p] = 0, s[3 * p + 1] = HAS_SQUARE##p ? 0 : -1, s[3 * p + 2] = 0; \
    UNROLL for (int f = 0; f < D##p; f++) { \
        const real x = x##p[r][f], z = q[COORDINATES##p + f]; \
        if (HAS_SUM##p) s[3 * p] = sum##p(s[3 * p], x, z); \
        if (HAS_SQUARE##p) s[3 * p + 1] = FMA(x - z, x - z, s[3 * p + 1]); \
    }
#define TAKE_VECTOR(l) column[l] = q[VECTOR##l];
#define TAKE_HALF(p) half_z[p] = q[HALF##p];
#define VALUE \
    real s[3 * PARTS], column[LINES], half_z[PARTS]; \
    EACH_PART(SUM) \
    EACH_VECTOR(TAKE_VECTOR) \
    EACH_HALF(TAKE_HALF) \
    DOUBTS \
    k = value(&a, s, half_x[r], half_z, row[r], column);
#endif

/* Column c of the tile against all rows; where a tile crosses the diagonal K_ii is the reference evaluator's. */
#define COLUMN(crosses) { \
    real q[RECORD]; \
    UNROLL for (int f = 0; f < RECORD; f += VECTOR_LENGTH) LOAD(q + f, tile + c * RECORD + f); \
    UNROLL for (int r = 0; r < ROWS; r++) { \
        real k; \
        VALUE \
        if (crosses && own + r * THREADS == c) k = exact[r]; \
        UNROLL for (int v = 0; v < T; v++) part[r][v] = FMA(k, q[WEIGHT + v], part[r][v]); \
    } \
}

KERNEL(THREADS) product(const argument a) {
    SHARED real tile[TILE * RECORD];
    const whole i0 = (whole)blockIdx.x * (THREADS * ROWS) + threadIdx.x, last = a.n - 1;
    const whole begin = (whole)blockIdx.y * a.range, end = begin + a.range < a.m ? begin + a.range : a.m;
#define DECLARE(p) real x##p[ROWS][D##p];
    EACH_PART(DECLARE)
    real row[ROWS][LINES], half_x[ROWS][PARTS], exact[ROWS];
    double sum[ROWS][T];
    UNROLL for (int r = 0; r < ROWS; r++) {
        const whole i = i0 + r * THREADS < last ? i0 + r * THREADS : last;
#define LOAD_ROW(p) UNROLL for (int k = 0; k < D##p; k++) x##p[r][k] = AT((const real *)a.x[p], i, k, D##p);
        EACH_PART(LOAD_ROW)
#define LOAD_VECTOR(l) row[r][l] = ((const real *)a.row[l])[i];
        EACH_VECTOR(LOAD_VECTOR)
#define LOAD_HALF(p) half_x[r][p] = ((const real *)a.half_x[p])[i];
        EACH_HALF(LOAD_HALF)
#ifdef LIFTED
        const double lifted = exp2((double)row[r][0]) * a.coefficient[0];
        exact[r] = a.diagonal ? (real)(((const double *)a.diagonal)[i] / lifted) : R(0);
#else
        exact[r] = a.diagonal ? (real)((const double *)a.diagonal)[i] : R(0);
#endif
        UNROLL for (int c = 0; c < T; c++) sum[r][c] = 0;
    }
    for (whole j0 = begin; j0 < end; j0 += TILE) {
        SYNC();
        for (int e = threadIdx.x; e < TILE * RECORD; e += THREADS) {
            const int f = e / TILE, c = e % TILE;
            const whole j = j0 + c < a.m ? j0 + c : a.m - 1;
            real v = 0;
#define COPY_POINT(p) \
    if (f >= COORDINATES##p && f < COORDINATES##p + D##p) \
        v = AT((const real *)a.z[p], j, f - COORDINATES##p, D##p);
            EACH_PART(COPY_POINT)
#define COPY_VECTOR(l) if (f == VECTOR##l) v = ((const real *)a.column[l])[j];
            EACH_VECTOR(COPY_VECTOR)
#define COPY_HALF(p) if (f == HALF##p) v = ((const real *)a.half_z[p])[j];
            EACH_HALF(COPY_HALF)
            if (f >= WEIGHT && f < WEIGHT + T) v = j0 + c < end ? ((const real *)a.w)[(f - WEIGHT) * a.m + j] : R(0);
            tile[c * RECORD + f] = v;
        }
        SYNC();
        const whole block = (whole)blockIdx.x * (THREADS * ROWS), at = j0 + a.ahead; /* as a row */
        const int touches = a.diagonal && at < block + THREADS * ROWS && at + TILE > block;
        const int own = (int)(i0 - at); /* the column that is this thread's first row */
        real part[ROWS][T];
        UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int c = 0; c < T; c++) part[r][c] = 0;
        if (touches)
            for (int c = 0; c < TILE; c++)
                COLUMN(1)
        else
            AHEAD for (int c = 0; c < TILE; c++)
                COLUMN(0)
        UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int c = 0; c < T; c++) sum[r][c] += (double)part[r][c];
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        const whole i = i0 + r * THREADS;
#ifdef LIFTED
        const double by = exp2((double)row[r][0]) * a.coefficient[0];
#else
        const double by = 1;
#endif
        UNROLL for (int c = 0; c < T; c++)
            if (i < a.n) ((double *)a.partial)[((whole)blockIdx.y * T + c) * a.n + i] = by * sum[r][c];
    }
}
