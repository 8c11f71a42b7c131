/* suggest.h: "did you mean ...?" */
#ifndef MC_BASE_SUGGEST_H
#define MC_BASE_SUGGEST_H

#include <stddef.h>

/* The name nearest to word, or NULL when none is near: about a third of the letters may be wrong. */
const char *mc_suggest(const char *word, size_t length, const char *const *names, long count);

#endif
