/* suggest.c: what a mistyped name was meant to be: the known name at the smallest edit distance, where an edit is a
   letter inserted, left out, replaced, or exchanged with its neighbour (Damerau, 1964). */
#include "cli.h"
#include <string.h>

enum { LONGEST = 40 };

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

void nearest_try(nearest *best, const char *name) {
    const int distance = edit_distance(best->text, name);
    const int allowed = 1 + (int)strlen(name) / 3; /* beyond that the guess would be noise */
    if (distance <= allowed && (!best->name || distance < best->distance)) {
        best->name = name;
        best->distance = distance;
    }
}
