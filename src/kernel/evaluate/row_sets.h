/* row_sets.h: sets of rows in a column of text, "1 2; 3 4.5", and the mean map of a kernel between them: the mean of
   k(x, z) over the rows x of one and z of the other, which is 0 where one has none. */
#ifndef MC_KERNEL_EVALUATE_ROW_SETS_H
#define MC_KERNEL_EVALUATE_ROW_SETS_H

#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "kernel/evaluate/view.h"
#include "kernel/language/parse.h"

enum { MC_SET_COLUMNS = 0, MC_SET_COLUMNS_MAX = 256 }; /* the parameter of mean_map; of a row */

static inline bool mc_node_reads_sets(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_MEAN_MAP;
}

/* mean_map(k), mean_map(k, columns=d) */
mercer_status mc_parse_mean_map(mc_parser *parser, mc_node **out);

/* The rows of the sets in one column of text, one after the other. */
typedef struct mc_row_sets {
    int64_t n, columns;
    int64_t *begin; /* n + 1: the rows of each set */
    double *values;
} mc_row_sets;

/* An error names the row whose text is no set of rows of so many numbers; columns 0: as the first has. */
mercer_status mc_row_sets_read(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data, int64_t columns,
                               mc_row_sets *out);
void mc_row_sets_free(mc_row_sets *sets);
/* All of them as a table. */
mercer_status mc_row_sets_table(mercer_ctx *ctx, const mc_row_sets *sets, mercer_data **out);
/* Whether the texts are sets that the kernel takes. */
mercer_status mc_row_sets_check(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data);
/* Rows of all sets, and bytes of them, at most. */
size_t mc_row_sets_bytes(const mc_node *mean_map, const mercer_data *data);

/* About how many operations a pair of sets takes, over all mean_maps of the tree; 0: there is none. */
double mc_row_sets_work(const mc_node *root, const mercer_data *data);

/* k(x, z) of two sets of so many rows. The same bits as k(z, x). */
double mc_mean_map_value(const mc_node *mean_map, int64_t n, const double *x, int64_t m, const double *z);
/* By the definition, from the texts; NaN: one is no set. */
double mc_mean_map_of_texts(const mc_node *mean_map, const char *x, const char *z);

/* The rows of a text one after the other. */
typedef struct mc_set_walk {
    const char *at; /* NULL: it is no set of such rows */
    int64_t columns;
    bool more;
} mc_set_walk;
int64_t mc_set_count(const char *text);
mc_set_walk mc_set_begin(const char *text, int64_t columns);
bool mc_set_next(mc_set_walk *walk, double *row); /* false: there are no more */

#endif
