/* suggest.c: the nearest of some names by edit distance: letters inserted, deleted, replaced or exchanged with their neighbour
   (the restricted distance of Damerau and Levenshtein). Upper and lower case count as equal. */
#include "base/suggest.h"
#include <string.h>

enum { LONGEST = 63 };

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Row i of the table holds the distances of the first i letters of a to the beginnings of b; three rows are enough. */
static int distance(const char *a, int na, const char *b, int nb) {
    int table[3][LONGEST + 1];
    for (int j = 0; j <= nb; j++)
        table[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = table[i % 3], *up = table[(i + 2) % 3], *two_up = table[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int differs = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + differs);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], two_up[j - 2] + 1);
        }
    }
    return table[na % 3][nb];
}

const char *mc_suggest(const char *word, size_t length, const char *const *names, long count) {
    const char *best = NULL;
    int best_distance = LONGEST;
    if (length > LONGEST)
        return NULL;
    for (long i = 0; i < count; i++) {
        const size_t n = strlen(names[i]);
        if (n > LONGEST)
            continue;
        const int away = distance(word, (int)length, names[i], (int)n), longer = (int)(n > length ? n : length);
        if (away < best_distance && away < longer && 3 * away <= longer + 1) {
            best = names[i];
            best_distance = away;
        }
    }
    return best;
}
