/* cost.c: small factorisations run at less than full speed; counted so, their operations take the same time each. */
#include "plan/cost.h"

/* orders at which half of the full speed is reached, by timing on one thread */
static const double HALF_SPEED_FACTOR = 700, HALF_SPEED_EIGEN = 800;

double mc_factor_work(double n) {
    return n * n * (n + HALF_SPEED_FACTOR) / 3;
}

double mc_eigen_work(double n) {
    return n * n * (n + HALF_SPEED_EIGEN);
}
