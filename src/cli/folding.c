/* folding.c: which rows leave together, from --folds and --groups; folds and path share it. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

const option fold_options[] = {
    {"folds", 0, "K", "K-fold cross-validation, seeded and stratified by class"},
    {"groups", 0, "COLUMN",
     "grouped cross-validation: rows with the same text in this column, which is then no input, stay in one fold"},
    {0},
};

int folding_read(session *s, folding *f) {
    f->groups = args_text(&s->args, "groups");
    f->asked = f->groups || args_text(&s->args, "folds");
    return args_whole(&s->args, "folds", 2, (int64_t)1 << 31, &f->k);
}

static int64_t count_folds(const int64_t *fold, int64_t n) {
    int64_t most = -1;
    for (int64_t i = 0; i < n; i++)
        most = fold[i] > most ? fold[i] : most;
    return most + 1;
}

int64_t groups_text(const mercer_data *data, const char *name) {
    for (int64_t k = 0; k < mercer_data_texts(data); k++)
        if (mercer_data_text_name(data, k) && strcmp(mercer_data_text_name(data, k), name) == 0)
            return k;
    return 0;
}

int folding_make(session *s, const mercer_data *data, folding *f) {
    const int64_t n = mercer_data_rows(data);
    int64_t seed = 0;
    TRY(args_whole(&s->args, "seed", 0, (int64_t)1 << 53, &seed));
    f->fold = session_take(s, n, 1, sizeof *f->fold);
    const char **group = f->fold && f->groups ? session_take(s, n, 1, sizeof *group) : NULL;
    if (!f->fold || (f->groups && !group)) {
        free(group);
        return EXIT_MEMORY;
    }
    for (int64_t i = 0; i < n && group; i++)
        group[i] = mercer_data_text(data, i, groups_text(data, f->groups));
    const mercer_status status = mercer_data_folds(s->ctx, data, f->k, group, (uint64_t)seed, f->fold);
    free(group);
    f->count = status ? 0 : count_folds(f->fold, n);
    return status ? session_fail(s, status) : EXIT_DONE;
}

void folding_close(folding *f) {
    free(f->fold);
}
