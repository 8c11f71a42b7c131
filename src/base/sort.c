/* sort.c: bottom-up merge sort of item numbers. Stable, n log n at worst, no recursion. */
#include "base/sort.h"
#include <string.h>

static void merge_runs(const int64_t *from, int64_t *to, int64_t left, int64_t middle, int64_t right,
                       mc_compare *compare, const void *arg) {
    int64_t i = left, j = middle;
    for (int64_t k = left; k < right; k++)
        if (j >= right || (i < middle && compare(arg, from[i], from[j]) <= 0))
            to[k] = from[i++];
        else
            to[k] = from[j++];
}

void mc_sort(int64_t *items, int64_t *scratch, int64_t n, mc_compare *compare, const void *arg) {
    int64_t *from = items, *to = scratch;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t left = 0; left < n; left += 2 * width) {
            const int64_t middle = n - left < width ? n : left + width;
            const int64_t right = n - left < 2 * width ? n : left + 2 * width;
            merge_runs(from, to, left, middle, right, compare, arg);
        }
        int64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items && n > 0)
        memcpy(items, from, (size_t)n * sizeof *items);
}
