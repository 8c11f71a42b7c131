/* blas.h: the Fortran routines Mercer calls, by their symbols: any BLAS and LAPACK with the standard interface will do.
   Matrices are column-major; the lengths of the texts come last, as compilers of Fortran pass them. Only backend/ and
   linalg/ include this (tools/layers.py), and call these between mc_blas_begin and mc_blas_end (base/parallel.h); other
   folders use the handles of linalg/dense.h. */
#ifndef MC_BACKEND_BLAS_H
#define MC_BACKEND_BLAS_H

#include <stddef.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc, size_t, size_t);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha,
            const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc,
            size_t, size_t);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *beta, double *c, const int *ldc, size_t, size_t);
void ssyrk_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *beta, float *c, const int *ldc, size_t, size_t);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const double *alpha, const double *a, const int *lda, double *b, const int *ldb, size_t, size_t, size_t,
            size_t);
void strsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const float *alpha, const float *a, const int *lda, float *b, const int *ldb, size_t, size_t, size_t,
            size_t);
void dtrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a, const int *lda,
            double *x, const int *incx, size_t, size_t, size_t);
void strsv_(const char *uplo, const char *trans, const char *diag, const int *n, const float *a, const int *lda,
            float *x, const int *incx, size_t, size_t, size_t);

void dtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const double *alpha, const double *a, const int *lda, double *b, const int *ldb, size_t, size_t, size_t,
            size_t);
void strmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const float *alpha, const float *a, const int *lda, float *b, const int *ldb, size_t, size_t, size_t,
            size_t);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda, const double *x,
            const int *incx, const double *beta, double *y, const int *incy, size_t);
void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy, size_t);
void sgemv_(const char *trans, const int *m, const int *n, const float *alpha, const float *a, const int *lda,
            const float *x, const int *incx, const float *beta, float *y, const int *incy, size_t);

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void slauum_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info, size_t, size_t);
void strtri_(const char *uplo, const char *diag, const int *n, float *a, const int *lda, int *info, size_t, size_t);
/* With the largest remaining diagonal entry first: P'AP = L L', stopped at rank columns when that is at most tol. work:
   2 n. */
void dpstrf_(const char *uplo, const int *n, double *a, const int *lda, int *piv, int *rank, const double *tol,
             double *work, int *info, size_t);
/* Eigenvalues of a symmetric tridiagonal matrix; of a symmetric matrix, with eigenvectors in place of it for jobz 'V'.
   */
void dsterf_(const int *n, double *d, double *e, int *info);
/* A reflection H with H (alpha, x) = (beta, 0); beta and the vector, its first entry 1, take their place. */
void dlarfg_(const int *n, double *alpha, double *x, const int *incx, double *tau);
/* Eigenvectors of a tridiagonal matrix too, compz 'I'; and products with the Q that dsytrd leaves. */
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t);
/* T = Q'AQ; and the il-th to iu-th eigenpairs of T for range 'I', by relatively robust representations. work: 18 n,
   iwork: 10 n, isuppz: 2 (iu - il + 1); e has n places. */
void dsytrd_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, double *work,
             const int *lwork, int *info, size_t);
void dstemr_(const char *jobz, const char *range, const int *n, double *d, double *e, const double *vl,
             const double *vu, const int *il, const int *iu, int *m, double *w, double *z, const int *ldz,
             const int *nzc, int *isuppz, int *tryrac, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info, size_t, size_t);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, const double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info,
             size_t, size_t, size_t);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);

#endif
