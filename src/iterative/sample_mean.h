/* sample_mean.h: the mean of few random numbers and how far it may be off. */
#ifndef MC_ITERATIVE_SAMPLE_MEAN_H
#define MC_ITERATIVE_SAMPLE_MEAN_H

#include <stdint.h>

typedef struct mc_sample_mean {
    double mean;
    double error; /* normal numbers: the mean is within twice this of its expectation in 95.45% of samples */
} mc_sample_mean;

/* x: at least two numbers, drawn independently of each other from one law. */
mc_sample_mean mc_find_sample_mean(int64_t count, const double *x);

/* The probability that a number of Student's law is between -t and t, t >= 0. */
double mc_student_probability(int64_t degrees_of_freedom, double t);

#endif
