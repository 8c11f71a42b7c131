/* suggest.h: "did you mean ...?" */
#ifndef MC_BASE_SUGGEST_H
#define MC_BASE_SUGGEST_H

#include <stddef.h>

/* Keeps the name nearest to text of those it is shown: the shortest that begins with it, else one with about a third of
   the letters wrong. A name too far away to be meant is not kept. */
typedef struct mc_suggestion {
    const char *text;
    size_t length;    /* of text; 0: all of it */
    const char *name; /* NULL: none is near */
    int distance;
} mc_suggestion;
void mc_suggestion_try(mc_suggestion *best, const char *name);

/* The nearest of a list; NULL: none is near. */
const char *mc_suggest_name(const char *word, size_t length, const char *const *names, long count);

#endif
