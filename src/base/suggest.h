/* suggest.h: "did you mean ...?" */
#ifndef MC_BASE_SUGGEST_H
#define MC_BASE_SUGGEST_H

#include <stddef.h>

/* The name nearest to word: the shortest that begins with it, else one with about a third of the letters wrong; NULL:
   none is near. */
const char *mc_suggest(const char *word, size_t length, const char *const *names, long count);

#endif
