/* device_price.c: see device_price.h. The card is that of docs/gpu.md: build/bench/b_device measures it. */
#include "backend/device_price.h"
#include <math.h>

static const double START = 0.3, LAUNCH = 1e-4, BYTES_A_SECOND = 8e9;

double mc_price_host_pair(int threads, double width, mercer_dtype precision) {
    const double operation = precision == MERCER_F64 ? 4e-11 : 2e-11;
    return operation * (width + 20) / (threads > 1 ? threads : 1);
}

double mc_price_card_pair(double width, mercer_dtype precision) {
    return precision == MERCER_F64 ? 1.2e-12 + 5.2e-14 * width : 2.5e-13 + 2.5e-14 * width;
}

double mc_price_card_start(void) {
    return START;
}

double mc_price_host(int threads, const mc_pairs_work *work) {
    return work->pairs * mc_price_host_pair(threads, work->stored, work->precision);
}

double mc_price_card(const mc_pairs_work *work) {
    return LAUNCH + work->bytes / BYTES_A_SECOND + work->pairs * mc_price_card_pair(work->width, work->precision);
}

double mc_price_host_algebra(int threads, double operations) {
    return 4e-11 * operations / (threads > 1 ? threads : 1);
}

double mc_price_card_algebra(double operations, double bytes) {
    return LAUNCH + bytes / BYTES_A_SECOND + 2.5e-14 * operations;
}
