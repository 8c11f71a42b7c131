/* sort.h: one stable sort, without hidden memory. */
#ifndef MC_BASE_SORT_H
#define MC_BASE_SORT_H

#include <mercer.h>

/* Below zero, zero or above for item a before, beside or after item b. */
typedef int mc_compare(const void *arg, int64_t a, int64_t b);

/* Sort n item numbers in place by merging; scratch holds n more. */
void mc_sort(int64_t *items, int64_t *scratch, int64_t n, mc_compare *compare, const void *arg);

#endif
