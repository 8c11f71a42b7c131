/* suggest.c: the nearest of some names: the shortest that begins with the word, else by edit distance: letters
   inserted, deleted, replaced or exchanged with their neighbour (the restricted distance of Damerau and Levenshtein).
   Upper and lower case count as equal. */
#include "base/suggest.h"
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63, BEGINNING = 2 }; /* fewer letters begin anything */

static int to_lower_case(char c) {
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static int smaller_int(int a, int b) {
    return a < b ? a : b;
}

/* Row i of the table holds the distances of the first i letters of a to the beginnings of b; three rows are enough. */
static int edit_distance(const char *a, int na, const char *b, int nb) {
    int table[3][LONGEST + 1];
    for (int j = 0; j <= nb; j++)
        table[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = table[i % 3], *up = table[(i + 2) % 3], *two_up = table[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int differs = to_lower_case(a[i - 1]) != to_lower_case(b[j - 1]);
            row[j] = smaller_int(smaller_int(up[j], row[j - 1]) + 1, up[j - 1] + differs);
            if (i > 1 && j > 1 && to_lower_case(a[i - 1]) == to_lower_case(b[j - 2])
                && to_lower_case(a[i - 2]) == to_lower_case(b[j - 1]))
                row[j] = smaller_int(row[j], two_up[j - 2] + 1);
        }
    }
    return table[na % 3][nb];
}

static bool begins_with(const char *name, const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (to_lower_case(name[i]) != to_lower_case(word[i]))
            return false; /* at the end of name too */
    return true;
}

/* Whoever types acc means accuracy, though auc is one letter away: a beginning is nearer than any slip, the more so the
   shorter the name. */
static int distance_to(const char *word, int length, const char *name, int n) {
    return length >= BEGINNING && begins_with(name, word, (size_t)length) ? n - LONGEST - 1
                                                                          : edit_distance(word, length, name, n);
}

void mc_suggestion_try(mc_suggestion *best, const char *name) {
    const size_t length = best->length ? best->length : strlen(best->text), n = strlen(name);
    if (length > LONGEST || n > LONGEST)
        return;
    const int away = distance_to(best->text, (int)length, name, (int)n), longer = (int)(n > length ? n : length),
              shorter = (int)(n + length) - longer;
    if (away < longer && 3 * away <= longer + 1 && away <= 1 + shorter / 3 && (!best->name || away < best->distance)) {
        best->name = name;
        best->distance = away;
    }
}

const char *mc_suggest_name(const char *word, size_t length, const char *const *names, long count) {
    mc_suggestion best = {.text = word, .length = length};
    for (long i = 0; i < count && length > 0; i++)
        mc_suggestion_try(&best, names[i]);
    return best.name;
}
