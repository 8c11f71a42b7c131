/* b_read.c: bytes per second of the readers on made files.

   b_read make FOLDER MEGABYTES   writes digits17.csv (20 columns, full precision), digits6.csv, sparse.svm and
   table.npy
   b_read time FILE REPEATS       reads FILE with 1 thread and with all, and prints "threads,bytes,seconds" with the
   best time
   b_read sum FILE                prints the sum of all values but the targets

   read_peers.py runs both beside NumPy and scikit-learn. */
#include "data/npy/npy_write.h"
#include <mercer.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64: the bench needs bytes, not statistics. */
static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) {
    return (double)(next(state) >> 11) * 0x1p-52 - 1;
}

static FILE *create(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void make_csv(const char *folder, const char *name, const char *format, long bytes) {
    FILE *file = create(folder, name);
    uint64_t state = 1;
    while (ftell(file) < bytes)
        for (int j = 0; j < COLUMNS; j++) {
            fprintf(file, format, uniform(&state));
            fputc(j + 1 < COLUMNS ? ',' : '\n', file);
        }
    fclose(file);
}

static void make_svm(const char *folder, long bytes) {
    FILE *file = create(folder, "sparse.svm");
    uint64_t state = 2;
    while (ftell(file) < bytes) {
        fprintf(file, "%d", next(&state) % 2 ? 1 : -1);
        for (int j = (int)(next(&state) % 500) + 1; j < 20000; j += (int)(next(&state) % 500) + 1)
            fprintf(file, " %d:%.6g", j, uniform(&state));
        fputc('\n', file);
    }
    fclose(file);
}

static void make_npy(const char *folder, long bytes) {
    char path[512];
    const long n = bytes / 8 / COLUMNS;
    double *values = malloc((size_t)n * COLUMNS * sizeof *values);
    uint64_t state = 3;
    for (long k = 0; values && k < n * COLUMNS; k++)
        values[k] = uniform(&state);
    mercer_ctx *ctx = NULL;
    snprintf(path, sizeof path, "%s/table.npy", folder);
    if (!values || mercer_open(NULL, &ctx) || mc_npy_write(ctx, path, values, n, COLUMNS))
        exit(1);
    mercer_close(ctx);
    free(values);
}

/* The sum of all values but the targets, for a comparison with what others read. */
static double sum_of(const mercer_data *data) {
    const int64_t d = mercer_data_columns(data);
    double *row = malloc((size_t)d * sizeof *row), sum = 0;
    for (int64_t i = 0; row && i < mercer_data_rows(data); i++) {
        mercer_data_row(data, i, row);
        for (int64_t j = 0; j < d; j++)
            sum += row[j];
    }
    free(row);
    return sum;
}

/* Seconds; sum may be NULL. */
static double read_once(mercer_ctx *ctx, const char *path, double *sum) {
    mercer_data *data = NULL;
    const double start = now();
    if (mercer_data_read(ctx, path, NULL, &data)) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
        exit(1);
    }
    const double seconds = now() - start;
    if (sum)
        *sum = sum_of(data);
    mercer_data_free(data);
    return seconds;
}

static mercer_ctx *open_with(int threads) { /* 0: all */
    mercer_options options = mercer_options_defaults();
    options.threads = threads;
    mercer_ctx *ctx = NULL;
    if (mercer_open(&options, &ctx))
        exit(1);
    return ctx;
}

static void time_file(const char *path, int repeats) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    fclose(file);
    double best[2] = {INFINITY, INFINITY};
    mercer_ctx *ctx[2] = {open_with(1), open_with(0)};
    /* not counted: on a virtual machine the host may have to find the memory first, at 0.3 GB/s */
    read_once(ctx[0], path, NULL);
    for (int k = 0; k < 2 * repeats; k++)
        best[k % 2] = fmin(best[k % 2], read_once(ctx[k % 2], path, NULL));
    for (int k = 0; k < 2; k++) {
        printf("%d,%ld,%.6f\n", mercer_threads(ctx[k]), bytes, best[k]);
        mercer_close(ctx[k]);
    }
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "make") == 0) {
        const long bytes = atol(argv[3]) << 20;
        make_csv(argv[2], "digits17.csv", "%.17g", bytes);
        make_csv(argv[2], "digits6.csv", "%.6g", bytes);
        make_svm(argv[2], bytes);
        make_npy(argv[2], bytes);
    } else if (argc == 4 && strcmp(argv[1], "time") == 0) {
        time_file(argv[2], atoi(argv[3]));
    } else if (argc == 3 && strcmp(argv[1], "sum") == 0) {
        double sum = 0;
        read_once(open_with(0), argv[2], &sum);
        printf("%.17g\n", sum);
    } else {
        fprintf(stderr, "usage: b_read make FOLDER MEGABYTES | b_read time FILE REPEATS | b_read sum FILE\n");
        return 2;
    }
    return 0;
}
