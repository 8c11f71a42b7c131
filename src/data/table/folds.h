/* folds.h: which rows are held out: together, in cross-validation, or once, to see when to stop. */
#ifndef MC_DATA_TABLE_FOLDS_H
#define MC_DATA_TABLE_FOLDS_H

#include <mercer.h>

typedef enum mc_folding {
    MC_FOLDS_PLAIN,      /* sizes differ by one at most */
    MC_FOLDS_STRATIFIED, /* and so do the rows of each class */
    MC_FOLDS_GROUPED     /* rows of a group stay together; sizes as equal as the groups allow */
} mc_folding;

/* fold[i] in [0, k) for each of n rows. key: the class of a row (stratified) or its group (grouped), from 0; NULL when
   plain. The same seed gives the same folds everywhere. */
mercer_status mc_folds_make(mercer_ctx *ctx, mc_folding kind, int64_t n, int64_t k, const int32_t *key, uint64_t seed,
                            int32_t *fold);

/* mercer_data_folds for use inside the library. */
mercer_status mc_data_folds(mercer_ctx *ctx, const mercer_data *data, int64_t k, const char *const *groups,
                            uint64_t seed, int64_t *fold);

/* The places 0 .. n - 1: first those to learn from, then those that are held out, so many; both in order. A seeded
   choice. */
mercer_status mc_hold_out(mercer_ctx *ctx, int64_t n, int64_t held, uint64_t seed, int64_t *place);

/* No machine learns a class that has no row: to the count rows listed, which have place for all, one is added of every
   class that is too rare to be among them, where there is one from a fold that is at least so much. example: classes
   numbers to work with. Returns how many there are then. */
int64_t mc_rows_of_every_class(const mercer_data *data, const int64_t *fold, int64_t least, int64_t *example,
                               int64_t *rows, int64_t count);

#endif
