/* svm_scale_command.c: mercer-svm-scale: columns (and targets) to a range, by the least and the largest value of
   the file or by those that an earlier run has saved. A pair that is not listed is 0 and is scaled too; a column
   that does not vary is left out. */
#include "libsvm/command/svm_command.h"
#include <stdlib.h>
#include <string.h>

typedef struct scale_range {
    double low, high;
} scale_range;

/* An index that the data or the file of ranges has. */
typedef struct scale_column {
    int index, listed; /* rows that list it */
    scale_range range;
} scale_column;

typedef struct scaled_file {
    scale_range to, target_to, target; /* target: of the file */
    bool scales_target;
    const char *save, *restore, *data;
    scale_column *column; /* by index */
    int64_t columns, written;
    svm_text text;
} scaled_file;

static _Noreturn void print_usage(void) {
    fputs("Usage: mercer-svm-scale [options] data_filename\n"
          "options:\n"
          "-l lower : the least scaled value (default -1)\n"
          "-u upper : the largest scaled value (default +1)\n"
          "-y y_lower y_upper : scale targets to this range too\n"
          "-s save_filename : write the ranges found to this file\n"
          "-r restore_filename : use the ranges of this file\n",
          stdout);
    exit(EXIT_FAILURE);
}

static void read_options(int argc, char **argv, scaled_file *s) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char letter = argv[i][1];
        if (i + (letter == 'y' ? 2 : 1) >= argc)
            print_usage();
        switch (letter) {
        case 'l': s->to.low = svm_command_real(argv[++i]); break;
        case 'u': s->to.high = svm_command_real(argv[++i]); break;
        case 's': s->save = argv[++i]; break;
        case 'r': s->restore = argv[++i]; break;
        case 'y':
            s->target_to.low = svm_command_real(argv[++i]);
            s->target_to.high = svm_command_real(argv[++i]);
            s->scales_target = true;
            break;
        default: fprintf(stderr, "unknown option\n"); print_usage();
        }
    }
    if (!(s->to.high > s->to.low) || (s->scales_target && !(s->target_to.high > s->target_to.low)))
        svm_command_fail("inconsistent lower/upper specification");
    if (s->save && s->restore)
        svm_command_fail("cannot use -r and -s simultaneously");
    if (argc != i + 1)
        print_usage();
    s->data = argv[i];
}

/* ---- Columns ---- */

static void *room_for(int64_t count, size_t size) {
    void *made = calloc(count > 0 ? (size_t)count : 1, size);
    if (!made)
        svm_command_fail("can't allocate enough memory");
    return made;
}

static int by_index(const void *a, const void *b) {
    const int x = ((const scale_column *)a)->index, y = ((const scale_column *)b)->index;
    return (x > y) - (x < y);
}

/* Sorted, each index once. */
static void sort_columns(scaled_file *s) {
    int64_t kept = 0;
    qsort(s->column, (size_t)s->columns, sizeof *s->column, by_index);
    for (int64_t k = 0; k < s->columns; k++)
        if (kept == 0 || s->column[k].index != s->column[kept - 1].index)
            s->column[kept++] = s->column[k];
    s->columns = kept;
}

static void list_columns(scaled_file *s) {
    s->column = room_for(s->text.listed, sizeof *s->column);
    for (int i = 0; i < s->text.problem.l; i++)
        for (const struct svm_node *x = s->text.problem.x[i]; x->index >= 0; x++)
            s->column[s->columns++].index = x->index;
    sort_columns(s);
}

/* Rows list rising indices: the column looked for is mostly the next. */
static int64_t find_column(const scaled_file *s, int index, int64_t guess) {
    if (guess < s->columns && s->column[guess].index == index)
        return guess;
    const scale_column wanted = {.index = index};
    const scale_column *found = bsearch(&wanted, s->column, (size_t)s->columns, sizeof wanted, by_index);
    return found ? found - s->column : -1;
}

static void widen_range(scale_range *r, double value) {
    r->low = value < r->low ? value : r->low;
    r->high = value > r->high ? value : r->high;
}

static void widen_by_row(scaled_file *s, const struct svm_node *x) {
    for (int64_t k = 0; x->index >= 0; x++, k++) {
        k = find_column(s, x->index, k);
        scale_column *c = &s->column[k];
        if (c->listed++ == 0)
            c->range = (scale_range){x->value, x->value};
        widen_range(&c->range, x->value);
    }
}

/* What rows list, and 0 where some row does not; an index of 0 stands for itself alone. */
static void find_ranges(scaled_file *s) {
    const struct svm_problem *p = &s->text.problem;
    for (int i = 0; i < p->l; i++) {
        widen_by_row(s, p->x[i]);
        if (i == 0)
            s->target = (scale_range){p->y[0], p->y[0]};
        widen_range(&s->target, p->y[i]);
    }
    for (int64_t k = 0; k < s->columns; k++)
        if (s->column[k].listed < p->l && s->column[k].index > 0)
            widen_range(&s->column[k].range, 0);
}

static bool column_varies(const scale_column *c) {
    return c->range.low != c->range.high;
}

/* ---- Files of ranges ---- */

/* Columns that the file does not have become constant, and are left out. */
static void forget_ranges(scaled_file *s, const scale_column *known, int64_t count) {
    for (int64_t k = 0; k < s->columns; k++) {
        scale_column *c = &s->column[k];
        const scale_column *found = count > 0 ? bsearch(c, known, (size_t)count, sizeof *c, by_index) : NULL;
        if (!found && column_varies(c) && c->index > 0)
            fprintf(stderr,
                    "WARNING: feature index %d appeared in file %s was not seen in the scaling factor file %s. The "
                    "feature is scaled to 0.\n",
                    c->index, s->data, s->restore);
        if (found || c->index > 0)
            c->range = found ? found->range : (scale_range){0};
    }
}

/* Those of the file that the data have not. */
static void add_columns(scaled_file *s, const scale_column *known, int64_t count) {
    scale_column *all = room_for(s->columns + count, sizeof *all);
    memcpy(all, s->column, (size_t)s->columns * sizeof *all);
    int64_t added = s->columns;
    for (int64_t k = 0; k < count; k++)
        if (find_column(s, known[k].index, 0) < 0)
            all[added++] = known[k];
    free(s->column);
    s->column = all;
    s->columns = added;
    sort_columns(s);
}

static void restore_columns(scaled_file *s, FILE *file) {
    scale_column one = {0}, *known = NULL;
    int64_t count = 0, room = 0;
    if (fscanf(file, "%lf %lf", &s->to.low, &s->to.high) != 2)
        svm_command_fail("%s is no file of ranges", s->restore);
    while (fscanf(file, "%d %lf %lf", &one.index, &one.range.low, &one.range.high) == 3) {
        if (one.index < 0 || (count > 0 && one.index <= known[count - 1].index))
            svm_command_fail("%s is no file of ranges: index %d stands too late", s->restore, one.index);
        if (count == room) {
            scale_column *grown = realloc(known, (size_t)(room = 2 * room + 64) * sizeof *known);
            if (!grown)
                svm_command_fail("can't allocate enough memory");
            known = grown;
        }
        known[count++] = one;
    }
    forget_ranges(s, known, count);
    add_columns(s, known, count);
    free(known);
}

static void restore_ranges(scaled_file *s) {
    FILE *file = fopen(s->restore, "r");
    char key[2] = "";
    if (!file)
        svm_command_fail("can't open file %s", s->restore);
    int got = fscanf(file, "%1s", key);
    if (got == 1 && *key == 'y') {
        got =
            fscanf(file, "%lf %lf %lf %lf", &s->target_to.low, &s->target_to.high, &s->target.low, &s->target.high) == 4
            && fscanf(file, "%1s", key) == 1;
        s->scales_target = true;
    }
    if (got != 1 || *key != 'x')
        svm_command_fail("%s is no file of ranges", s->restore);
    restore_columns(s, file);
    fclose(file);
}

static void save_ranges(const scaled_file *s) {
    FILE *file = fopen(s->save, "w");
    if (!file)
        svm_command_fail("can't open file %s", s->save);
    if (s->columns > 0 && s->column[0].index < 1)
        fprintf(stderr, "WARNING: scaling factors with indices smaller than 1 are not stored to the file %s.\n",
                s->save);
    if (s->scales_target)
        fprintf(file, "y\n%.17g %.17g\n%.17g %.17g\n", s->target_to.low, s->target_to.high, s->target.low,
                s->target.high);
    fprintf(file, "x\n%.17g %.17g\n", s->to.low, s->to.high);
    for (int64_t k = 0; k < s->columns; k++)
        if (column_varies(&s->column[k]) && s->column[k].index > 0)
            fprintf(file, "%d %.17g %.17g\n", s->column[k].index, s->column[k].range.low, s->column[k].range.high);
    if (fclose(file) != 0)
        svm_command_fail("can't write file %s", s->save);
}

/* ---- Output ---- */

/* The ends of the range are met to the bit. */
static double scale_value(scale_range from, scale_range to, double value) {
    return value == from.low    ? to.low
           : value == from.high ? to.high
                                : to.low + (to.high - to.low) * (value - from.low) / (from.high - from.low);
}

static void print_value(scaled_file *s, const scale_column *c, double value) {
    const double out = column_varies(c) ? scale_value(c->range, s->to, value) : 0;
    if (out != 0) {
        printf("%d:%g ", c->index, out);
        s->written++;
    }
}

/* The columns in which 0 becomes another number: all other zeros need not be looked at. */
static int64_t *columns_of_zeros(const scaled_file *s, int64_t *count) {
    int64_t *list = room_for(s->columns, sizeof *list);
    *count = 0;
    for (int64_t k = 0; k < s->columns; k++)
        if (column_varies(&s->column[k]) && s->column[k].index > 0 && scale_value(s->column[k].range, s->to, 0) != 0)
            list[(*count)++] = k;
    return list;
}

static void print_row(scaled_file *s, int i, const int64_t *zeros, int64_t count) {
    const double y = s->text.problem.y[i];
    int64_t next = 0, k = 0;
    printf("%.17g ", s->scales_target ? scale_value(s->target, s->target_to, y) : y);
    for (const struct svm_node *x = s->text.problem.x[i]; x->index >= 0; x++, k++) {
        k = find_column(s, x->index, k);
        for (; next < count && zeros[next] < k; next++)
            print_value(s, &s->column[zeros[next]], 0);
        next += next < count && zeros[next] == k;
        print_value(s, &s->column[k], x->value);
    }
    for (; next < count; next++)
        print_value(s, &s->column[zeros[next]], 0);
    putchar('\n');
}

int main(int argc, char **argv) {
    scaled_file s = {.to = {-1, 1}};
    int64_t count;
    read_options(argc, argv, &s);
    s.text = svm_text_read(s.data, "can't open file %s", "Wrong input format at line %d");
    list_columns(&s);
    if (s.columns > 0 && s.column[0].index < 1)
        fprintf(stderr, "WARNING: minimal feature index is %d, but indices should start from 1\n", s.column[0].index);
    find_ranges(&s);
    if (s.restore)
        restore_ranges(&s);
    if (s.save)
        save_ranges(&s);
    int64_t *zeros = columns_of_zeros(&s, &count);
    for (int i = 0; i < s.text.problem.l; i++)
        print_row(&s, i, zeros, count);
    if (s.written > s.text.listed)
        fprintf(stderr,
                "WARNING: original #nonzeros %lld\n       > new      #nonzeros %lld\n"
                "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1\n",
                (long long)s.text.listed, (long long)s.written);
    free(zeros);
    free(s.column);
    svm_text_free(&s.text);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
