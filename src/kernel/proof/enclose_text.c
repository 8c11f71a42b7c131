/* enclose_text.c: kernels of texts in interval arithmetic, by other sums than those of text_values.c: equal parts are
   counted, and the numbers that they are multiplied with come last. Counts are whole and exact. */
#include "kernel/proof/enclose.h"
#include <string.h>

enum { REACH_MAX = 64 };

static int64_t length_of(const char *text) {
    return (int64_t)strlen(text);
}

static bool is_in_word(char c) {
    return c
           && (strchr("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) || (unsigned char)c > 127);
}

/* ---- spectrum ---- */

/* C(n, k) */
static double binomial(int64_t n, int64_t k) {
    return k < 0 || k > n ? 0 : k == 0 ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);
}

static mc_interval spectrum_of(const mc_node *atom, const char *x, const char *z) {
    const int64_t p = (int64_t)atom->parameter[0].number, m = (int64_t)atom->parameter[1].number;
    double sum = 0;
    for (int64_t i = p; i <= length_of(x); i++)
        for (int64_t j = p; j <= length_of(z); j++) {
            int64_t equal = 0;
            for (int64_t k = 1; k <= p; k++)
                equal += x[i - k] == z[j - k];
            sum += equal >= p - m ? binomial(equal, p - m) : 0; /* p - m places among those that agree */
        }
    return mc_iv(sum);
}

/* ---- subsequence ---- */

/* Pairs of equal subsequences by the bytes that they reach over in both texts together. */
typedef struct reach_counts {
    const char *x, *z;
    int64_t span;
    double count[REACH_MAX];
} reach_counts;

/* The part so far begins at (i0, j0) and ends at (i, j); `left` bytes are to follow. */
static void count_pairs(reach_counts *c, int64_t i0, int64_t j0, int64_t i, int64_t j, int64_t left) {
    if (left == 0) {
        c->count[i - i0 + j - j0 + 2]++;
        return;
    }
    for (int64_t k = i + 1; k - i0 < c->span && c->x[k]; k++)
        for (int64_t l = j + 1; l - j0 < c->span && c->z[l]; l++)
            if (c->x[k] == c->z[l])
                count_pairs(c, i0, j0, k, l, left - 1);
}

static mc_interval subsequence_of(const mc_node *atom, const char *x, const char *z) {
    reach_counts c = {.x = x, .z = z, .span = (int64_t)atom->parameter[2].number};
    const mc_interval decay = mc_iv(atom->parameter[1].number);
    mc_interval sum = mc_iv(0);
    if (2 * c.span >= REACH_MAX)
        return mc_iv_everything();
    for (int64_t i = 0; x[i]; i++)
        for (int64_t j = 0; z[j]; j++)
            if (x[i] == z[j])
                count_pairs(&c, i, j, i, j, (int64_t)atom->parameter[0].number - 1);
    for (int n = 0; n < REACH_MAX; n++)
        if (c.count[n] > 0)
            sum = mc_iv_add(sum, mc_iv_mul(mc_iv(c.count[n]), mc_iv_power(decay, n)));
    return sum;
}

/* ---- weighted degree ---- */

/* A place from which r bytes agree has r parts: sum of p - l + 1 over l <= min(r, p). */
static mc_interval degree_of(const mc_node *atom, const char *x, const char *z) {
    const int64_t p = (int64_t)atom->parameter[0].number;
    double sum = 0;
    for (int64_t i = 0; x[i] && z[i]; i++)
        for (int64_t l = 1; l <= p && x[i + l - 1] && x[i + l - 1] == z[i + l - 1]; l++)
            sum += (double)(p - l + 1);
    return mc_iv_div(mc_iv(2 * sum), mc_iv((double)(p * (p + 1))));
}

/* ---- words ---- */

static bool begins_word(const char *text, int64_t i) {
    return is_in_word(text[i]) && (i == 0 || !is_in_word(text[i - 1]));
}

static mc_interval words_of(const mc_node *atom, const char *x, const char *z) {
    (void)atom;
    double sum = 0;
    for (int64_t i = 0; x[i]; i++)
        for (int64_t j = 0; begins_word(x, i) && z[j]; j++) {
            int64_t k = 0;
            while (is_in_word(x[i + k]) && x[i + k] == z[j + k])
                k++;
            sum += begins_word(z, j) && !is_in_word(x[i + k]) && !is_in_word(z[j + k]);
        }
    return mc_iv(sum);
}

mc_interval mc_enclose_texts(const mc_node *atom, const char *x, const char *z) {
    static mc_interval (*const value[MC_ATOM_COUNT])(const mc_node *, const char *, const char *) = {
        [MC_SPECTRUM] = spectrum_of,
        [MC_SUBSEQUENCE] = subsequence_of,
        [MC_WEIGHTED_DEGREE] = degree_of,
        [MC_WORDS] = words_of,
    };
    return value[atom->atom](atom, x, z);
}
