/* suggest_name.c: what a mistyped name was meant to be: the shortest known name that begins with it, else the one at
   the smallest edit distance, where an edit is a letter inserted, left out, replaced, or exchanged with its neighbour
   (Damerau, 1964). */
#include "cli.h"
#include <string.h>

enum { LONGEST = 40, BEGINNING = 2 }; /* fewer letters begin anything */

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Rows of the distance table are kept for the current and the two earlier letters of a. */
static int edit_distance(const char *a, const char *b) {
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int row[3][LONGEST + 1];
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* The beginning of a name is nearer than any slip, the more so the shorter the name. */
static int distance_of(const char *typed, const char *name) {
    const size_t begun = strlen(typed), whole = strlen(name);
    if (begun >= BEGINNING && whole <= LONGEST && strncmp(typed, name, begun) == 0)
        return (int)whole - LONGEST - 1;
    return edit_distance(typed, name);
}

void nearest_try(nearest *best, const char *name) {
    const int distance = distance_of(best->text, name);
    /* beyond that the guess would be noise */
    const int allowed = 1 + least((int)strlen(best->text), (int)strlen(name)) / 3;
    if (distance <= allowed && (!best->name || distance < best->distance)) {
        best->name = name;
        best->distance = distance;
    }
}
