/* spectrum.h: the Fourier transforms of stationary kernels, one of which a monomial of an expansion may be. */
#ifndef MC_KERNEL_PROOF_SPECTRUM_H
#define MC_KERNEL_PROOF_SPECTRUM_H

#include "kernel/proof/expand.h"

typedef enum mc_family {
    MC_NO_FAMILY,
    MC_FLAT, /* a constant */
    MC_GAUSSIAN_FAMILY,
    MC_MATERN_FAMILY, /* exponential among them, and laplacian on one column */
    MC_RQ_FAMILY,
    MC_LAPLACE_FAMILY,
    MC_PERIODIC_FAMILY,
    MC_SINC_FAMILY,
    MC_WENDLAND_FAMILY /* asked for by mc_wendland_of only: its quotients with others are not known */
} mc_family;

typedef struct mc_stationary {
    mc_family family;
    double order;      /* nu, alpha, the period, the power of sinc, k of wendland */
    int degree;        /* l of wendland */
    mc_interval scale; /* g, l, b, a, k, length_scale: see spectrum.c */
    int generator;     /* -1: none */
} mc_stationary;

/* A generator that is a stationary atom of fixed numbers, whose powers have a family. */
bool mc_is_stationary_generator(const mc_term *term);
/* One Gaussian over all columns, one stationary generator, or none; other generators are not looked at. */
mc_stationary mc_spectrum_of(const mc_expansion *e, const mc_monomial *m, int64_t d);
/* One wendland and nothing else. */
bool mc_wendland_of(const mc_expansion *e, const mc_monomial *m, mc_stationary *out);
/* Its transform at |omega|^2 = s. */
mc_interval mc_wendland_density(const mc_stationary *p, int64_t d, mc_interval s);
/* rq_share.c: at most the least quotient of the transforms of an rq and of a Gaussian. */
mc_interval mc_rq_over_gaussian(const mc_stationary *p, const mc_stationary *q, int64_t d);
/* What multiplies the stationary part is the same. */
bool mc_same_rest(const mc_expansion *e, const mc_monomial *a, const mc_monomial *b);

/* The transform at 0 of a Gaussian, and what stands before (l + s)^-(nu + d/2) in that of matern, both apart from
   pi^(d/2) and, where d is odd, pi^(-1/2). */
mc_interval mc_spectrum_amplitude(const mc_stationary *p, int64_t d);
/* Gamma(a)/Gamma(b) for a, b > 0. */
mc_interval mc_gamma_quotient(mc_interval a, mc_interval b);
/* base^(order + d/2), without rounding the exponent. */
mc_interval mc_power_of_order(mc_interval base, double order, int64_t d);
/* exp(-k) I0(k), the mean of periodic over a period in one column; everything for a k that is too large. */
mc_interval mc_periodic_mean(mc_interval k);

/* A frequency: size in the first column, or in all of them. */
typedef struct mc_frequency {
    double size;
    bool in_all;
} mc_frequency;

/* The transform, the integral of p(u) exp(-i w.u), on R^d; everything where it is not known. Of constants and of
   periodic, which have masses at single frequencies: 0. */
mc_interval mc_spectrum_density(const mc_stationary *p, int64_t d, mc_frequency w);

#endif
