/* device_price.h: what products with K take on the processor and on a card, by counts alone: the choice between the two
   is the same run after run. */
#ifndef MC_BACKEND_DEVICE_PRICE_H
#define MC_BACKEND_DEVICE_PRICE_H

#include <mercer.h>

/* Pairs of rows of so many coordinates, of which so many are stored, entries of this precision; bytes that cross to the
   card and back. */
typedef struct mc_pairs_work {
    double pairs, width, stored, bytes;
    mercer_dtype precision;
} mc_pairs_work;

/* Seconds of one pair, by the tiles on so many threads of a processor of 2020; on a card like an H200. */
double mc_price_host_pair(int threads, double width, mercer_dtype precision);
double mc_price_card_pair(double width, mercer_dtype precision);
/* Seconds before a card does anything: its driver, its context. */
double mc_price_card_start(void);
double mc_price_host(int threads, const mc_pairs_work *work);
double mc_price_card(const mc_pairs_work *work);
/* Of dense algebra, so many operations on doubles, over bytes that are copied. */
double mc_price_host_algebra(int threads, double operations);
double mc_price_card_algebra(double operations, double bytes);

#endif
