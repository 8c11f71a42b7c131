/* portable_math.h: elementary functions from + - * / and sqrt alone, so that their bits are the same on every machine
   with IEEE 754 arithmetic and with every C library. Good to a few units in the last place; for random numbers and
   made-up data, not for kernels. */
#ifndef MC_BASE_PORTABLE_MATH_H
#define MC_BASE_PORTABLE_MATH_H

double mc_portable_math_log(double x);           /* x > 0, normal */
double mc_portable_math_sin_turns(double turns); /* sin(2 pi turns) */
double mc_portable_math_cos_turns(double turns);
double mc_portable_math_sin(double x); /* |x| up to about 1e6 */
double mc_portable_math_cos(double x);
double mc_portable_math_atan(double x);

#endif
