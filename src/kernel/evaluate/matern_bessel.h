/* matern_bessel.h: the Matern function of any smoothness. */
#ifndef MC_KERNEL_EVALUATE_MATERN_BESSEL_H
#define MC_KERNEL_EVALUATE_MATERN_BESSEL_H

#include <stdbool.h>

/* nu is 1/2, 3/2 or 5/2: the function is a polynomial times exp(-s). */
bool mc_matern_is_elementary(double nu);
/* Of a smaller nu, whose function is steeper at 0 than a table can show, tiles ask pair by pair. */
#define MC_MATERN_TABLE_LEAST 0.25
/* 2^(1-nu)/Gamma(nu) s^nu K_nu(s), 1 at s = 0. */
double mc_matern_value(double nu, double s);
/* -f'(s)/s of that f = 2^(1-nu)/Gamma(nu) s^(nu-1) K_(nu-1)(s); 0 stands for what is infinite at s = 0. */
double mc_matern_slope(double nu, double s);
/* The derivative of f with respect to nu where s = sqrt(2 nu) r and r stays. */
double mc_matern_nu_slope(double nu, double s);

#endif
