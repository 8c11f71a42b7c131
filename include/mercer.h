/* mercer.h: kernel machines in C. The whole public interface, and its manual.

   A first program:

       mercer_ctx *ctx = NULL; mercer_data *data = NULL; mercer_kernel *kernel = NULL; mercer_model *model = NULL;
       mercer_ridge set = mercer_ridge_defaults();
       set.lambda = 1e-3;
       if (mercer_open(NULL, &ctx) || mercer_data_read(ctx, "table.csv", NULL, &data)
           || mercer_kernel_parse(ctx, "0.5*rbf(sigma=1) + linear", &kernel)
           || mercer_fit(ctx, "ridge", &set, kernel, data, &model))
           fprintf(stderr, "%s\n", mercer_message(ctx));
       mercer_model_free(model); mercer_kernel_free(kernel); mercer_data_free(data); mercer_close(ctx);

   Rules that hold everywhere:

   - A function that can fail returns mercer_status; MERCER_OK is 0. The text is mercer_message(ctx).
   - Inputs are const and borrowed for the call. What the library keeps it copies. A pointer that is NULL where nothing
     says what that means is MERCER_INVALID, with its name; of a function that returns no status the answer is then 0,
     NULL or NaN. Settings that are NULL are the defaults. An index that an object does not have gives NULL, NaN or -1.
   - Outputs come last as T **out and are set to NULL first. Whoever gets a T * frees it with mercer_T_free, which takes
     NULL. A const char * or const T * result lives as long as the object it came from.
   - The library keeps no mutable global, prints nothing, never exits and installs no signal handler. A BLAS whose
     number of threads is one setting for the whole process (OpenBLAS with threads of its own) has one thread while any
     context is inside a call of it: that keeps the bits. The setting found is put back when the last of them leaves.

   Threads, by the groups below. Status, Settings, and all that takes no context and no object: any thread, any time.
   Context: a mercer_ctx, and what is told of it (message, memory, threads, ranks), belongs to one thread at a time; any
   number of contexts may work at once. Data, Kernels, Proofs, Machines, Models, Samples, Plan, Tuning: a call with a
   context belongs to the thread of that context. What it makes never changes again: data, kernels, proofs, posteriors,
   searches and models are read from any thread, shared between contexts, and may outlive the one that made them; to
   free one must be its last use. Callbacks say which threads call them.

   What a later version may change, so that a program built with this header runs with it: numbers, names and fields
   stay. A struct whose first field is size may get fields at its end, for which the program's own sizeof in size stands
   guard: mercer_T_defaults() writes it, otherwise write mercer_T x = {.size = sizeof x}. A field that a newer library
   has is at its default for an older program; one that an older library does not know is an error where it is set.
   Structs reached by a const pointer (reports, progress, rows of tables) may get fields at their end too: do not make
   arrays of them (mercer_setting alone, which stands in one, stays as it is). All other structs stay as they are.
   Until version 1.0 a minor version may break any of this. */
#ifndef MERCER_H
#define MERCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MERCER_API __attribute__((visibility("default")))
#else
#define MERCER_API
#endif

/* init writes the defaults of a struct whose size the caller gives; defaults gives them as a value. */
#define MERCER_DEFAULTS(type, init, defaults)                                                                          \
    MERCER_API void init(type *set, size_t size);                                                                      \
    static inline type defaults(void) {                                                                                \
        type set;                                                                                                      \
        init(&set, sizeof set);                                                                                        \
        return set;                                                                                                    \
    }

#define MERCER_VERSION "0.1.0"
#define MERCER_VERSION_NUMBER 100 /* 10000 major + 100 minor + patch */
/* Of the library that is linked: may be newer than this header. */
MERCER_API const char *mercer_version(void);
MERCER_API int mercer_version_number(void);

/* ---- Status ---- */

/* One table makes the enum and the texts. A number is never given to another. */
#define MERCER_STATUS_MAP(X)                                                                                           \
    X(OK, 0, "success")                                                                                                \
    X(INVALID, 1, "an argument or setting is out of range")                                                            \
    X(SYNTAX, 2, "a kernel expression does not parse")                                                                 \
    X(DATA, 3, "the data are malformed or do not fit")                                                                 \
    X(IO, 4, "a file could not be read or written")                                                                    \
    X(FORMAT, 5, "a model file is damaged or of another version")                                                      \
    X(MEMORY, 6, "out of memory or over the memory limit")                                                             \
    X(NUMERIC, 7, "a numerical method broke down")                                                                     \
    X(NOT_A_KERNEL, 8, "the expression is not proved to be a kernel")                                                  \
    X(CANCELLED, 9, "stopped by the caller")                                                                           \
    X(TIME, 10, "the time limit was reached")                                                                          \
    X(INTERNAL, 11, "a defect in Mercer")

typedef enum mercer_status {
#define X(name, number, text) MERCER_##name = number,
    MERCER_STATUS_MAP(X)
#undef X
} mercer_status;

/* The name ("INVALID") and the general text of a status. */
MERCER_API const char *mercer_status_name(mercer_status status);
MERCER_API const char *mercer_status_text(mercer_status status);

/* ---- Context ---- */

typedef struct mercer_ctx mercer_ctx;
/* What the progress callback sees. */
typedef struct mercer_progress {
    const char *phase;   /* "read", "gram", "factor", ... */
    double done;         /* share of this phase in [0, 1]; negative when unknown */
    double seconds;      /* since the public call began */
    double measure;      /* what the phase watches (a residual, a gap); NaN when there is none */
    const char *watches; /* its name: "residual", "relative gap", "violation", ...; NULL when there is none */
    double goal;         /* the measure at which the solver may end; NaN when it ends by other signs */
    int64_t step;        /* of the problem it works on that the solver has just finished, from 1; 0: it is within one */
    double gap;          /* support vector machines: the duality gap of the program being solved; NaN otherwise */
    int64_t vectors;     /* and its multipliers that are not zero now */
} mercer_progress;

typedef struct mercer_options {
    size_t size;
    /* One realloc-style hook: new_size 0 frees, NULL makes, otherwise grows or shrinks. NULL hook: the C library's. It
       is called on the thread that calls the library alone: with objects shared, on each that makes or frees one. */
    void *(*memory)(void *user, void *block, size_t old_size, size_t new_size);
    void *memory_user;
    size_t memory_limit; /* bytes of blocks, what libraries take for themselves not counted; 0: 80% of what is free */
    int threads;         /* 0: all cores this process may use */
    uint64_t seed;
    double time_limit; /* seconds for one public call; 0: none. A fit then goes in stages: mercer_model_stages */
    const char *isa;   /* "portable", "avx2", "avx512"; NULL: the fastest this machine has (or $MERCER_ISA) */
    /* Called from the calling thread at most ten times a second; a non-zero answer stops the call with
       MERCER_CANCELLED. */
    int (*progress)(void *user, const mercer_progress *progress);
    void *progress_user;
    bool every_step; /* progress also sees every step of an iterative solver, however many a second */
    /* Facts about what is being done, one line each, from the calling thread; NULL: silent. */
    void (*log)(void *user, const char *line);
    void *log_user;
    /* "cpu"; "cuda" or "cuda:1", that card for all products with K that it can do; NULL or "auto": a card where there
       is one and the work is large (or $MERCER_DEVICE). */
    const char *device;
    size_t device_memory_limit; /* bytes on the card; 0: 90% of what is free there */
    /* "mpi": this process is one of those that were started together by mpirun or srun and share the work on products
       with K; each makes the same calls with the same data and gets the same bits, on any number of them. NULL or
       "none": it works alone. Opening and closing such a context is something that all of them do. */
    const char *ranks;
    const void *communicator; /* points at the MPI_Comm of those that share; NULL: MPI_COMM_WORLD */
} mercer_options;
MERCER_DEFAULTS(mercer_options, mercer_options_init, mercer_options_defaults)

/* NULL options mean the defaults. On failure *out may still be a context that carries the message; close it all the
   same. */
MERCER_API mercer_status mercer_open(const mercer_options *options, mercer_ctx **out);
MERCER_API void mercer_close(mercer_ctx *ctx);

/* The last failure as one sentence; valid for NULL too. Empty after success. */
MERCER_API const char *mercer_message(const mercer_ctx *ctx);
/* Why a card that "auto" had taken is not used any more, as one sentence: the answers are the processor's then. Empty:
   no card has failed. */
MERCER_API const char *mercer_device_note(const mercer_ctx *ctx);
/* Where: the byte in a kernel expression (from 0), the line of a data file (from 1); -1 when there is no place. */
MERCER_API int64_t mercer_message_offset(const mercer_ctx *ctx);

MERCER_API size_t mercer_memory_used(const mercer_ctx *ctx);
MERCER_API size_t mercer_memory_peak(const mercer_ctx *ctx); /* since the context opened */
MERCER_API size_t mercer_memory_limit(const mercer_ctx *ctx);
MERCER_API int mercer_threads(const mercer_ctx *ctx);
/* What decided how many: "asked for", "processors it may run on", "quota of its control group", "OMP_NUM_THREADS",
   "OMP_THREAD_LIMIT" or "limit on the address space". */
MERCER_API const char *mercer_threads_decided(const mercer_ctx *ctx);
/* Of the processes that share the work of a context: which this one is, from 0 (the first alone writes files), how many
   there are, 1 alone; and which took longest so far, seconds (unless NULL) being how long the others waited for it. */
MERCER_API int mercer_rank(const mercer_ctx *ctx);
MERCER_API int mercer_ranks(const mercer_ctx *ctx);
MERCER_API int mercer_slowest_rank(const mercer_ctx *ctx, double *seconds);
/* Every rank says how it has fared so far, and hears how all have: MERCER_OK, or the failure of the first that has one,
   whose message names the rank. Alone: the status given. */
MERCER_API mercer_status mercer_agree(mercer_ctx *ctx, mercer_status status);
/* Another time_limit for the calls that follow: what is left of the time of a whole program, say. 0: none. */
MERCER_API mercer_status mercer_set_time_limit(mercer_ctx *ctx, double seconds);
MERCER_API const char *mercer_isa(const mercer_ctx *ctx); /* the instruction set in use */
/* A card of this machine, from 0 on. MERCER_INVALID, with the reason, where there is none of that number. */
typedef struct mercer_card {
    size_t size;
    char name[128];
    size_t memory, memory_free; /* bytes */
    int multiprocessors;
} mercer_card;
MERCER_API mercer_status mercer_card_at(mercer_ctx *ctx, int64_t i, mercer_card *out);
MERCER_API const char *mercer_blas(void); /* the linear algebra library in use, in its own words */

/* ---- Settings ---- */

/* A setting is one row: its default, range and help are read by the defaults function, the check, the command line and
   the bindings alike. */
typedef enum mercer_setting_type {
    MERCER_REAL = 0,
    MERCER_INTEGER = 1,
    MERCER_FLAG = 2,
    MERCER_TEXT = 3
} mercer_setting_type;

typedef struct mercer_setting {
    const char *name;          /* "lambda"; the command-line option is --lambda */
    mercer_setting_type type;  /* double, int64_t, bool, const char * */
    size_t offset;             /* of the field in the settings struct */
    double initial, low, high; /* default and closed range of numbers and flags */
    const char *initial_text;  /* TEXT: the default; NULL otherwise */
    const char *choices;       /* TEXT: "a|b|c", NULL: any; NULL otherwise */
    const char *help;
    const void *reserved[2];
} mercer_setting;

/* What a target is: none, numbers (one column per output) or classes. */
typedef enum mercer_target {
    MERCER_TARGET_AUTO = 0,
    MERCER_TARGET_NONE = 1,
    MERCER_TARGET_NUMBER = 2,
    MERCER_TARGET_CLASS = 3
} mercer_target;

/* A machine: what it is, what it learns from (MERCER_TARGET_NONE: rows alone; _AUTO: numbers or classes), its settings,
   and the struct of them with its size. */
typedef struct mercer_machine {
    const char *name, *help;
    mercer_target target;
    const mercer_setting *settings;
    int count;
    const char *type; /* "mercer_ridge" */
    size_t size;
} mercer_machine;
MERCER_API const mercer_machine *mercer_machine_find(const char *name); /* NULL when there is none */
MERCER_API const mercer_machine *mercer_machine_at(int i);              /* from 0; NULL beyond the last */
/* For programs that learn of a machine at run time: fill its settings struct of size bytes with the defaults; write one
   field from text, checked against its row; the text of a field that is one must live as long as the settings. A name
   that the machine does not have is an error that names who has it. */
MERCER_API mercer_status mercer_settings_init(mercer_ctx *ctx, const char *machine, void *settings, size_t size);
MERCER_API mercer_status mercer_settings_put(mercer_ctx *ctx, void *settings, const char *name, const char *text);

/* ---- Data ---- */

typedef struct mercer_data mercer_data;
typedef enum mercer_dtype { MERCER_F32 = 0, MERCER_F64 = 1 } mercer_dtype;
typedef enum mercer_missing {
    MERCER_MISSING_ERROR = 0,
    MERCER_MISSING_MEAN = 1,
    MERCER_MISSING_DROP = 2
} mercer_missing;

typedef enum mercer_header { MERCER_HEADER_AUTO = 0, MERCER_HEADER_YES = 1, MERCER_HEADER_NO = 2 } mercer_header;

typedef struct mercer_read {
    size_t size;
    /* column name or 1-based index, several separated by commas; NULL: the last column (CSV, npy), the label (LIBSVM);
       "": there is no target */
    const char *target;
    mercer_target kind;     /* AUTO: text, or few distinct whole numbers (at most 20 and at most n/5): classes */
    mercer_missing missing; /* empty, NA, NaN, null, ? cells of CSV */
    mercer_dtype dtype;     /* what the values are stored as; default MERCER_F64 */
    /* text columns kept as strings instead of one-hot, names separated by commas; NULL: none; "*": those of free text,
       which have more than 50 different values and one in ten rows */
    const char *text;
    const char *weights; /* name or index of the column of row weights; NULL: none */
    /* the columns are those of a Gram matrix K, for the kernel precomputed: a column "serial" is put before them, 1, 2,
       ... n, and K must be square. Rows with numbers of their own (LIBSVM's 0:serial, a first column of that name) keep
       them: row i is then the serial-th of K. In mercer_data_make you put it there: 0 for rows that are none of K's, or
       -k(x,x) where that is known */
    bool gram;
    /* CSV: whether the first line names the columns. AUTO: where text stands over numbers, or over text that it never
       equals; a line of both names and numbers is an error that asks for YES or NO */
    mercer_header header;
    /* columns left out, by name or 1-based index, several separated by commas; NULL: none. A model knows nothing of
       them and passes over columns of their names */
    const char *drop;
} mercer_read;
MERCER_DEFAULTS(mercer_read, mercer_read_init, mercer_read_defaults)

/* CSV, TSV, LIBSVM text or .npy, each also gzipped, told apart by content, then name; "-" is standard input. */
MERCER_API mercer_status mercer_data_read(mercer_ctx *ctx, const char *path, const mercer_read *set, mercer_data **out);

/* Data from arrays in memory. Give values (dense, row-major) or values with row_start and column (CSR, columns
   increasing). Of very many columns of CSR only those cost memory and time in which some row has a value. */
typedef struct mercer_table {
    size_t size;
    int64_t n, d;
    mercer_dtype dtype;
    const void *values;
    int64_t stride;           /* dense: values from one row to the next; 0: d */
    const int64_t *row_start; /* CSR: n + 1 entries; NULL: dense */
    const int32_t *column;    /* CSR: from 0 */
    const double *target;     /* n x outputs, row-major; NULL: none */
    int64_t outputs;
    const char *const *labels; /* classes instead of numbers: the label of each row, n strings; NULL: none */
    const double *weights;     /* n, all >= 0; NULL: none */
    const char *const *names;  /* d column names; NULL: none */
    const char *const *text;   /* n x texts strings, row-major, for kernels that read texts; NULL: none */
    int64_t texts;
    const char *const *text_names; /* of these columns; NULL: they go by number, from 1 */
    bool borrow; /* dense, stride 0: values are not copied, and are not to change before the data are freed */
} mercer_table;
MERCER_API mercer_status mercer_data_make(mercer_ctx *ctx, const mercer_table *table, mercer_data **out);
MERCER_API void mercer_data_free(mercer_data *data);

MERCER_API int64_t mercer_data_rows(const mercer_data *data);
MERCER_API int64_t mercer_data_columns(const mercer_data *data);
MERCER_API int64_t mercer_data_outputs(const mercer_data *data); /* target columns; 0: none or classes */
MERCER_API int64_t mercer_data_classes(const mercer_data *data); /* 0 when the target is not classes */
MERCER_API bool mercer_data_is_sparse(const mercer_data *data);
MERCER_API int64_t mercer_data_stored(const mercer_data *data); /* values stored: n*d, or the non-zeros of CSR */
MERCER_API const char *mercer_data_column_name(const mercer_data *data, int64_t column); /* "x3": the file has none */
MERCER_API const char *mercer_data_label(const mercer_data *data, int64_t k); /* sorted: numbers by value, then text */
MERCER_API int64_t mercer_data_class(const mercer_data *data, int64_t row);
MERCER_API double mercer_data_weight(const mercer_data *data, int64_t row); /* 1 where the data have none */
MERCER_API double mercer_data_target(const mercer_data *data, int64_t row, int64_t output);
MERCER_API void mercer_data_row(const mercer_data *data, int64_t row, double *out); /* d values, zeros filled in */
/* A row as it is stored, of sparse data without its zeros: values and their columns, from 0. Returns how many. */
MERCER_API int64_t mercer_data_row_stored(const mercer_data *data, int64_t row, int64_t *column, double *value);
MERCER_API const char *mercer_data_text(const mercer_data *data, int64_t row, int64_t k); /* k-th text column kept */
MERCER_API int64_t mercer_data_texts(const mercer_data *data);
MERCER_API const char *mercer_data_text_name(const mercer_data *data, int64_t k); /* NULL where it has none */
/* The name of a target column (of classes: output 0); "y", "y2", ... where the file has none; NULL: no target. */
MERCER_API const char *mercer_data_target_name(const mercer_data *data, int64_t output);
/* Columns of the file that were not read since the model that it was read for has none of these names, with commas
   between them; NULL: none. */
MERCER_API const char *mercer_data_unused(const mercer_data *data);
MERCER_API int64_t mercer_data_missing(const mercer_data *data); /* cells missing in the file: filled in or dropped */
/* The same data with these row weights (n, all >= 0) in place of any it had. */
MERCER_API mercer_status mercer_data_weigh(mercer_ctx *ctx, const mercer_data *data, const double *weights,
                                           mercer_data **out);
/* The listed rows, in that order and repeated where listed twice, as new data; rows NULL: the first count. Classes keep
   their numbers. */
MERCER_API mercer_status mercer_data_take(mercer_ctx *ctx, const mercer_data *data, const int64_t *rows, int64_t count,
                                          mercer_data **out);

/* Folds for cross-validation: a number from 0 to k - 1 for each row, a seeded choice. groups: n texts; rows with the
   same text stay in one fold, and k = 0 gives every group a fold of its own. NULL: folds of equal size, each class
   spread evenly over them; k = 0: every row is a fold. */
MERCER_API mercer_status mercer_data_folds(mercer_ctx *ctx, const mercer_data *data, int64_t k,
                                           const char *const *groups, uint64_t seed, int64_t *fold);

/* Generated data: moons, circles, spirals, blobs, sinc, friedman1, ...; the same seed gives the same bits. */
MERCER_API const char *const *mercer_generators(int *count);
MERCER_API mercer_status mercer_data_generate(mercer_ctx *ctx, const char *name, int64_t n, double noise, uint64_t seed,
                                              mercer_data **out);
/* CSV with a header, the target last; numbers read back to the same double. NULL path: standard output. */
MERCER_API mercer_status mercer_data_write(mercer_ctx *ctx, const mercer_data *data, const char *path);

/* ---- Kernels ---- */

typedef struct mercer_kernel mercer_kernel;
/* A kernel is written as an expression. With u = x - z:

     linear <x,z>    poly(degree=2, c=1, gamma=1) (gamma <x,z> + c)^degree    cosine <x,z>/(|x||z|), 0 at 0
     form(A) x'Az    white 1 if x = z, else 0    arccos(order=1), order 0, 1 or 2    tanh(a=1, c=0) tanh(a <x,z> + c)
     rbf(gamma) exp(-gamma |u|^2), also rbf(sigma) with gamma = 1/(2 sigma^2)    laplacian(gamma) exp(-gamma |u|_1)
     exponential(gamma) exp(-gamma |u|)    matern(nu=1.5, length_scale), nu 0.5, 1.5 or 2.5
     rq(alpha=1, length_scale) (1 + |u|^2/(2 alpha length_scale^2))^-alpha
     periodic(period=1, length_scale=1) exp(-2 sum_j sin^2(pi u_j/period)/length_scale^2)
     chi2(gamma=1) exp(-gamma sum_j u_j^2/(x_j + z_j)), intersection sum_j min(x_j, z_j): where no value is negative
     spectrum(p=3)[name]: what two strings of a text column share, sum of count_s(x) count_s(z) over the strings s of
     p bytes    spectrum(p=6, mismatches=2), subsequence, weighted_degree, words [name]: docs/sets.md
     precomputed: rows hold the values (mercer_read.gram)    user("name"): a function of yours

     2*k  k + k  k - k  k*k  k^2  exp(k)  normalize(k)  k[1:3, age]: some columns, from 1, both ends in
     weigh(f, k): f(x) k(x,z) f(z), f over norm2, norm, x[i], numbers, + - * / ^ and exp log sqrt sin cos tanh abs

   gamma, length_scale and period take a vector as well, one number per column: rbf(gamma=[0.1, 2]). Left out, they come
   from the data when the kernel is bound: with m columns of variance v, rbf takes gamma = 1/(m v), matern and rq
   length_scale = sqrt(m v/2), exponential its inverse, laplacian gamma = 1/(m sqrt(v)). Instead of a number, a range
   1e-3..10 or a set {1, 2} leaves the choice to tuning. An error names the column of the text and what was expected
   there. */
MERCER_API mercer_status mercer_kernel_parse(mercer_ctx *ctx, const char *text, mercer_kernel **out);

/* A kernel of your own, user("name") in an expression: out[i * m + j] <- k(x_i, z_j) for n rows x and m rows z of d
   numbers each, row-major, the columns in view of the data as the machine sees them (scaled, where it scales). It must
   be symmetric to the last bit, which is looked at on 16 rows spread over the data, and always give the same values;
   anything but 0 as answer, or a NaN, is an error that names the two rows. It is called from several threads at once,
   in blocks of some hundred values, and for single values; serial: one call at a time. positive: your word that it is
   a positive definite kernel, without which it counts as not proved. name and function are borrowed for the call, user
   until the last kernel and model made with it is freed. A model file keeps the rows and the name: load it with the
   function at hand. */
typedef struct mercer_user_kernel {
    size_t size; /* sizeof(mercer_user_kernel), the same in all of an array */
    const char *name;
    int (*fill)(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out);
    void *user;
    bool positive, serial;
} mercer_user_kernel;
MERCER_API mercer_status mercer_kernel_parse_with(mercer_ctx *ctx, const char *text, const mercer_user_kernel *users,
                                                  int count, mercer_kernel **out);

MERCER_API void mercer_kernel_free(mercer_kernel *kernel);
/* The canonical form; it parses back to the same kernel. */
MERCER_API const char *mercer_kernel_text(const mercer_kernel *kernel);
/* The kernel where nobody names one: rbf, and normalize(spectrum(p=3)) of every text found by mercer_read.text "*". */
MERCER_API mercer_status mercer_kernel_default(mercer_ctx *ctx, const mercer_data *data, mercer_kernel **out);
/* Fix what depends on the data: default bandwidths, column names, matrices in files; check the columns exist. */
MERCER_API mercer_status mercer_kernel_bind(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                            mercer_kernel **out);
/* What a kernel asks of the reading of data: sets set->gram for precomputed and, where it reads texts, set->text to a
   list that lives as long as the kernel. */
MERCER_API void mercer_kernel_reading(const mercer_kernel *kernel, mercer_read *set);
/* k(x, z) of a kernel without open parameters, in plain double precision: the reference evaluator. d: the length of x
   and z. */
MERCER_API mercer_status mercer_kernel_value(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x,
                                             const double *z, int64_t d, double *out);
/* The free parameters of a kernel ("rbf.gamma", "2.rbf.gamma[3]", "factor", ...), their values, and the derivatives of
   k(x, z) with respect to them. Positive factors count; powers, orders and nu do not. A name is NULL and a value NaN
   for an i that is not there. */
MERCER_API int64_t mercer_kernel_parameters(const mercer_kernel *kernel);
MERCER_API const char *mercer_kernel_parameter_name(const mercer_kernel *kernel, int64_t i);
MERCER_API double mercer_kernel_parameter(const mercer_kernel *kernel, int64_t i);
MERCER_API mercer_status mercer_kernel_with(mercer_ctx *ctx, const mercer_kernel *kernel, const double *parameters,
                                            mercer_kernel **out); /* the same expression with other parameters */
MERCER_API mercer_status mercer_kernel_gradient(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x,
                                                const double *z, int64_t d, double *value, double *gradient);

typedef struct mercer_shape {
    size_t size;
    bool stationary;   /* a function of x - z */
    bool isotropic;    /* a function of |x - z| */
    bool dot_product;  /* a function of <x, z> */
    bool normalised;   /* k(x, x) = 1 */
    bool bounded;      /* k(x, x) <= bound */
    double bound;      /* infinity when not bounded */
    int64_t dimension; /* of an explicit feature map for d columns; -1: infinite or unknown */
} mercer_shape;
MERCER_API bool mercer_kernel_shape(const mercer_kernel *kernel, int64_t d,
                                    mercer_shape *out); /* false: no out->size */

/* K(x_i, z_j) for all rows of data (x other, when given), row-major into out (n x m doubles, m = n without other).
   Values of precomputed and user are written as given, symmetric or not; every other call refuses a matrix that is not,
   and a function that is not on 16 rows, and names the pair. */
MERCER_API mercer_status mercer_gram(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                     const mercer_data *other, double *out);
/* K v for t columns of v without storing K: v is m x t, out n x t, both row-major. */
MERCER_API mercer_status mercer_gram_apply(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                           const mercer_data *other, mercer_dtype precision, const double *v, int64_t t,
                                           double *out);
/* The explicit map phi with k(x, z) = <phi(x), phi(z)> over the rows of data: n x dimension (mercer_shape) doubles,
   row-major; MERCER_INVALID for a kernel whose space has no finite dimension. */
MERCER_API mercer_status mercer_features(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                         double *out);
/* Facts about a Gram matrix that a valid kernel must satisfy. */
typedef struct mercer_gram_facts {
    size_t size;
    double asymmetry;                      /* max |K_ij - K_ji| */
    int64_t asymmetric[2];                 /* the pair i, j where that maximum is attained; -1, -1 where it is 0 */
    bool symmetric;                        /* asymmetry is at most 1e-12 of the largest |eigenvalue|: rounding */
    double eigenvalue_min, eigenvalue_max; /* of the symmetric part */
    double cauchy_schwarz;                 /* max K_ij^2 - K_ii K_jj over pairs, relative to the largest K_ii^2 */
    int64_t row, column;                   /* the pair where that maximum is attained */
    int64_t rank;                          /* eigenvalues above n * 2^-52 * the largest */
    bool positive;                         /* symmetric, and no eigenvalue below -n * 2^-52 * the largest */
} mercer_gram_facts;
MERCER_API mercer_status mercer_gram_check(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out);

/* ---- Proofs ---- */

typedef struct mercer_proof mercer_proof;
typedef enum mercer_verdict { MERCER_PROVED = 0, MERCER_REFUTED = 1, MERCER_UNKNOWN = 2 } mercer_verdict;

/* One line of a derivation. Premises are earlier steps. */
typedef struct mercer_step {
    const char *claim;   /* "rbf(gamma=1) is a kernel" */
    const char *rule;    /* "S6" ... the rule's id, see docs */
    const char *because; /* in words */
    const int *premises;
    int premise_count;
} mercer_step;

/* Points and weights with sum_ij w_i w_j k(x_i, x_j) <= value + bound < 0. */
typedef struct mercer_witness {
    int64_t count, d;
    const double *points; /* count x d */
    const double *weights;
    double value, bound; /* the computed form and a bound on its rounding error */
    int64_t pair[2];     /* two of the points that break Cauchy-Schwarz; -1, -1 when none does */
    const char *kernel;  /* the k it is about: the expression, with a value for everything that it leaves open */
    int64_t texts;       /* columns of text that the points have, 0 for kernels of numbers: */
    const char *const *text, *const *text_column; /* count x texts, and the names of these columns */
} mercer_witness;

/* A refutation without points: the Fourier transform of the expression on R^d at this frequency, or its mean over R^d,
   is value, off by at most bound, and value + bound < 0. Of a kernel neither is negative (Bochner). With a series:
   coefficient number `order` of the expression is, as a power series in <x, z> ("inner product"), as the same on unit
   vectors ("spheres", against kernels for every number of columns), or in Gegenbauer's polynomials of the cosine
   ("gegenbauer", on the unit sphere of R^d). */
typedef struct mercer_frequency {
    int64_t d;
    const double *frequency; /* d numbers; zeros for the mean */
    bool mean;
    double value, bound;
    const char *kernel; /* as in mercer_witness */
    const char *series; /* NULL: a frequency or a mean */
    int order;
} mercer_frequency;

/* Decide whether the kernel is positive definite on R^d for its columns (d 0: whatever d the expression allows). A
   kernel with default bandwidths is decided for every bandwidth it may get. */
MERCER_API mercer_status mercer_prove(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mercer_proof **out);
MERCER_API void mercer_proof_free(mercer_proof *proof);
MERCER_API mercer_verdict mercer_proof_verdict(const mercer_proof *proof);
/* Not proved, but conditionally positive definite: 1: sum_ij w_i w_j k(x_i, x_j) >= 0 for all weights that sum to 0; 2:
   for those of them with sum_i w_i x_i = 0. The steps then derive that. 0: a kernel, or neither is known. */
MERCER_API int mercer_proof_order(const mercer_proof *proof);
MERCER_API int mercer_proof_steps(const mercer_proof *proof);
MERCER_API const mercer_step *mercer_proof_step(const mercer_proof *proof, int i); /* NULL beyond the last */
MERCER_API const mercer_witness *mercer_proof_witness(const mercer_proof *proof);  /* NULL unless refuted by points */
/* NULL unless refuted without points */
MERCER_API const mercer_frequency *mercer_proof_frequency(const mercer_proof *proof);
/* the points with a value: "with x[1] > 0"; "": all */
MERCER_API const char *mercer_proof_domain(const mercer_proof *proof);
MERCER_API const char *mercer_proof_text(const mercer_proof *proof); /* the whole argument as on a blackboard */
/* the same as JSON, for programs that check it without Mercer: docs/proofs.md */
MERCER_API const char *mercer_proof_object(const mercer_proof *proof);

/* Is a matrix of numbers positive semidefinite? Every rounding error is bounded, so an answer holds for K to the last
   bit: proved by a Cholesky factor of K - c I whose product is compared with it, refuted by weights v with v'Kv < 0, or
   unknown where rounding hides the sign, as of every matrix that is singular. (K + K')/2 is looked at where the two
   halves differ by rounding; where they differ by more, K is refuted and the pair is named. weights: n, or NULL; zeros
   but where v refutes. */
typedef struct mercer_gram_proof {
    size_t size;
    mercer_verdict verdict;
    double bound;          /* proved: no eigenvalue is below; refuted by weights: v'Kv / v'v is not above; else 0 */
    double rounding;       /* c: eigenvalues less than this above 0 are not told from 0 */
    double asymmetry;      /* max |K_ij - K_ji| */
    int64_t asymmetric[2]; /* where; -1, -1 where it is 0 */
} mercer_gram_proof;
MERCER_API mercer_status mercer_gram_prove(mercer_ctx *ctx, const double *K, int64_t n, double *weights,
                                           mercer_gram_proof *out);

/* The nearest positive semidefinite matrix to K in the Frobenius norm: of (K + K')/2 the eigenvalues below 0 become 0,
   or with keep_diagonal, for correlations and normalised kernels, no diagonal entry changes at all. It is then moved by
   as much as rounding could hide, until mercer_gram_prove proves it: out (n x n, not K itself) is symmetric and holds a
   proof. A K that is proved as it is stays. */
typedef struct mercer_gram_repaired {
    size_t size;
    double distance; /* |K - out|_F */
    double relative; /* by |K|_F */
    double least;    /* no positive semidefinite matrix, with that diagonal, is nearer to K: eigenvalues, or the dual */
    double largest;  /* max |K_ij - out_ij| */
    int64_t moved[2];      /* where; -1, -1 where nothing moved */
    double eigenvalue_min; /* of (K + K')/2; 0 where it was proved as it is */
    int64_t negative;      /* its eigenvalues below 0 beyond rounding */
    double bound;          /* no eigenvalue of out is below: of mercer_gram_prove */
    int64_t iterations;    /* of the search for the diagonal */
} mercer_gram_repaired;
MERCER_API mercer_status mercer_gram_repair(mercer_ctx *ctx, const double *K, int64_t n, bool keep_diagonal,
                                            double *out, mercer_gram_repaired *facts);

/* P with K = P'P, its first facts->rank rows (of n; the rest is zero), by Cholesky's factorisation with the largest
   diagonal entry first, up to tolerance times the largest diagonal entry (0: n 2^-52). MERCER_DATA of a K that is not
   symmetric, MERCER_NOT_A_KERNEL of one with an eigenvalue below 0 beyond what is left out; facts are written then
   too. */
typedef struct mercer_gram_factored {
    size_t size;
    int64_t rank;
    double tolerance; /* diagonal entries that are left are at most this */
    double residual;  /* |K - P'P|_F is at most this, every rounding error counted */
    double relative;  /* by |K|_F */
} mercer_gram_factored;
MERCER_API mercer_status mercer_gram_factor(mercer_ctx *ctx, const double *K, int64_t n, double tolerance, double *P,
                                            mercer_gram_factored *facts);

/* ---- Machines ---- */

typedef struct mercer_model mercer_model;
/* One way for all machines: their name, their settings (the struct that mercer_machine names, NULL: the defaults), a
   kernel, data. A settings struct knows its machine, which the defaults write into it: settings of another machine, and
   a field that was changed and that the machine does not have, are errors that name them. */
MERCER_API mercer_status mercer_fit(mercer_ctx *ctx, const char *machine, const void *settings,
                                    const mercer_kernel *kernel, const mercer_data *data, mercer_model **out);

/* Ridge: min over f (and b) of sum_i w_i (y_i - f(x_i) - b)^2 + lambda |f|^2. Several outputs share one factorisation.
   lambda = 0 gives the minimum-norm least-squares function. Classes are fitted as one output per class, two classes
   included: +1 on the rows of the class and -1 on the others. Rows of weight zero are left out. */
typedef struct mercer_ridge {
    size_t size;
    const char *machine;
    double lambda; /* absolute; 0 interpolates */
    /* instead of lambda: min sum w (y - f - b)^2 with |f| <= norm_bound over all outputs; infinite: none */
    double norm_bound;
    double dof;        /* instead of lambda: the effective degrees of freedom, the intercept counted; 0: none */
    bool intercept;    /* an unpenalised b */
    const char *scale; /* auto, none, standard, minmax; kept in the model */
    /* auto, cholesky, mixed, eigen, pcg, primal: exact; nystrom, fourier: approximate, never chosen by auto */
    const char *solver;
    double tolerance; /* pcg, nystrom: the relative residual to reach, measured in double precision */
    int64_t rank;     /* pcg: columns of K in the preconditioner; nystrom: landmarks; fourier: frequencies; 0: chosen */
    /* nystrom: "pivots" (random, where K is not yet well represented), "uniform", a number of pivots, or row numbers
       from 1, separated by commas, among the rows that count */
    const char *landmarks;
    const char *checkpoint; /* pcg: a file that holds the state of a long fit, to be resumed; "": none */
    bool loo;               /* leave-one-out error (as dear as one more factorisation; nearly free with eigen) */
    bool allow_indefinite;  /* fit although the kernel is not proved */
} mercer_ridge;
MERCER_DEFAULTS(mercer_ridge, mercer_ridge_init, mercer_ridge_defaults)

/* Gaussian process regression: y = m + f(x) + noise, f ~ GP(0, k). The mean is ridge with lambda = noise; the kernel's
   parameters and the noise are chosen to maximize the evidence. Row weights say how precise a row is: its noise
   variance is noise / weight. */
typedef struct mercer_gp {
    size_t size;
    const char *machine;
    double noise;       /* variance of the noise; 0: none, an error when two rows are equal; below 0: learned */
    bool learn;         /* choose the kernel's parameters too */
    bool ard;           /* one length scale per column */
    int64_t restarts;   /* searches from random starts beside the first */
    int64_t iterations; /* steps of each search at most */
    bool intercept;     /* m: the weighted mean of the target; 0 without */
    const char *scale;
    bool loo;   /* leave-one-out error and density where nothing is learned (twice the work); with learning always */
    bool exact; /* learn from all rows, however many; beyond 10,000 otherwise in stages: mercer_model_stages */
} mercer_gp;
MERCER_DEFAULTS(mercer_gp, mercer_gp_init, mercer_gp_defaults)

/* The posterior of a gp model: opened once (it factors a matrix of the rows kept), then asked for many rows. */
typedef struct mercer_posterior mercer_posterior;
MERCER_API mercer_status mercer_posterior_open(mercer_ctx *ctx, const mercer_model *model, mercer_posterior **out);
MERCER_API void mercer_posterior_free(mercer_posterior *posterior);
/* Standard deviation of f(x_i), never negative, the same for every output; model and posterior may be shared, not
   changed. */
MERCER_API mercer_status mercer_posterior_std(mercer_ctx *ctx, const mercer_posterior *posterior,
                                              const mercer_data *data, double *out);
/* count functions drawn from the posterior at the rows of data, for one output: out is n x count, row-major. The seed
   decides. */
MERCER_API mercer_status mercer_posterior_sample(mercer_ctx *ctx, const mercer_posterior *posterior,
                                                 const mercer_data *data, int64_t output, int64_t count, uint64_t seed,
                                                 double *out);

/* Support vector machines: min over f and b of 1/2 |f|^2 + sum_i C_i loss(y_i, f(x_i) + b), C_i = C x class weight x
   row weight.

       svc        classes; loss max(0, 1 - y f). C = infinity is the hard margin: no row may come inside it
       nu-svc     classes; nu bounds the fraction of margin errors from above, that of support vectors from below
       svr        numbers; loss max(0, |y - f| - epsilon)
       nu-svr     numbers; epsilon is found: at most a fraction nu of the rows lies outside the tube
       one-class  no target; a region with all but a fraction nu of the rows: 1 inside, -1 outside

   C, nu, epsilon and the tolerance mean what they mean in LIBSVM. More than two classes: one quadratic program for
   every pair ("ovo"; most votes win, the first of equals) or one for every class against the rest ("ovr"). */
typedef struct mercer_svm {
    size_t size;
    const char *machine;
    double C;               /* svc, svr, nu-svr */
    double nu;              /* nu-svc, nu-svr, one-class */
    bool nearest_nu;        /* nu-svc: where nu leaves no answer, the nearest with a margin of 0.01 of k(x,x)'s mean */
    double epsilon;         /* svr */
    double tolerance;       /* of the largest violation of the optimality conditions */
    const char *multiclass; /* ovo, ovr */
    /* "balanced": n over classes times rows of the class; "label=weight,label=weight"; "": all 1 */
    const char *class_weight;
    int64_t iterations;     /* most steps of one quadratic program */
    const char *precision;  /* of the stored part of K: auto, single, double */
    const char *scale;      /* auto, none, standard, minmax; kept in the model */
    bool allow_indefinite;  /* fit although the kernel is not proved: then only a stationary point is found */
    const char *checkpoint; /* checkpoint file, from which the same fit is resumed; "": none */
    /* begin at the multipliers of this model: of the same machine, fitted to the same rows with another kernel or C.
       The optimum is the same, the way to it shorter. NULL: from nothing */
    const mercer_model *start;
    bool nu_fallback; /* nu-svc: the same, but nu stands as long as its margin is above 1e-5 of that mean */
} mercer_svm;
MERCER_API void mercer_svm_init(mercer_svm *set, size_t size, const char *machine);
static inline mercer_svm mercer_svm_defaults(const char *machine) {
    mercer_svm set;
    mercer_svm_init(&set, sizeof set, machine);
    return set;
}

/* Least mean squares: f <- f + step sum_i w_i (y_i - f(x_i) - b) k(x_i, .), all rows at once or one after the other,
   from f = 0; b is the weighted mean of the target. There is no penalty: the limit is the least-squares function of
   least norm, and stopping early is what regularises. A row weight multiplies the steps of its row; on held-out rows it
   weighs the error. A step that is not safe is an error that names the bound. Classes as for ridge. */
typedef struct mercer_lms {
    size_t size;
    const char *machine;
    /* 0: half of the bound, which is 2 over the largest eigenvalue of K (batch), 2 / max k(x,x) (sample) */
    double step;
    const char *mode; /* batch, sample */
    int64_t epochs;   /* passes over the rows at most */
    double tolerance; /* ends it: relative gradient, as in the certificate but against the target less b */
    /* share of the rows (a seeded choice) on which the best pass is chosen; they are not learned from; 0: none */
    double held_out;
    int64_t patience; /* passes without a smaller error on them before it ends */
    bool shuffle;     /* sample: a new order every pass */
    bool intercept;
    const char *scale;  /* auto, none, standard, minmax; kept in the model */
    const char *solver; /* auto, features, stored, streamed */
} mercer_lms;
MERCER_DEFAULTS(mercer_lms, mercer_lms_init, mercer_lms_defaults)

/* Nearest neighbours in feature space: the rows z with the least |phi(x) - phi(z)|^2 = k(x,x) + k(z,z) - 2 k(x,z), of
   equals the earlier rows; a square within rounding of 0 counts as 0. Numbers: their mean; classes: the share of votes
   of each, and of equals the first class wins. A row of weight w counts w times, one of weight zero is no neighbour.
   Where neighbours stand at distance 0 and they are weighted by distance, those alone count, equally. Exact: a
   prediction looks at all rows. */
typedef struct mercer_knn {
    size_t size;
    const char *machine;
    int64_t neighbors;
    const char *weighting; /* uniform; distance: 1 / |phi(x) - phi(z)| */
    const char *scale;     /* auto, none, standard, minmax; kept in the model */
} mercer_knn;
MERCER_DEFAULTS(mercer_knn, mercer_knn_init, mercer_knn_defaults)

/* Kernel principal components: the directions u of feature space along which the rows vary most, |u| = 1, and the
   scores <u, phi(x) - mu> of rows, mu the (weighted) mean; uncentred: mu = 0. They are eigenvectors of M = P S K S P, S
   the square roots of the weights, P the projection that takes the mean off: for weight 1 the centred Gram matrix.
   Scores are predictions, one output per component. Sign: of the eigenvector's entries the one of largest size, the
   first of those within 1e-8 of it, is positive. A target is not needed and not looked at. */
typedef struct mercer_pca {
    size_t size;
    const char *machine;
    int64_t components;
    bool center;
    double tolerance;   /* krylov: the residual |M v - theta v| to reach, relative to the largest eigenvalue */
    const char *scale;  /* auto, none, standard, minmax; kept in the model */
    const char *solver; /* auto, dense, krylov */
    /* fit although the kernel is not proved: directions of positive eigenvalues, whose sum the variance is then */
    bool allow_indefinite;
} mercer_pca;
MERCER_DEFAULTS(mercer_pca, mercer_pca_init, mercer_pca_defaults)

/* Machines that are a convex loss and a penalty: min over f and b of sum_i c_i loss(y_i, f(x_i) + b) + lambda/2 |f|^2,
   c_i = row weight x class weight.

       logistic       classes; log(1 + exp(-y f)), y = 1 for the first of two classes, -1 for the second. More than two:
                      softmax, one function per class, log sum_k exp(f_k) - f_y. It gives probabilities
       squared-hinge  classes; max(0, 1 - y f)^2 / 2; more than two: each against the rest
       huber          numbers; r^2/2 for |r| = |y - f| <= delta, delta |r| - delta^2/2 beyond
       quantile       numbers; tau r above, (tau - 1) r below, r = y - f; always with an intercept
       absolute       numbers; |y - f|; always with an intercept
       own-loss       classes or numbers; a loss of your own

   Smooth losses are solved by Newton's method, quantile and absolute as quadratic programs. The certificate is the
   duality gap. */
typedef struct mercer_own_loss mercer_own_loss;
typedef struct mercer_loss {
    size_t size;
    const char *machine;
    double lambda;
    double tau;       /* quantile */
    double delta;     /* huber */
    double tolerance; /* of the duality gap, relative to the objective */
    bool intercept;
    const char *class_weight; /* as for support vector machines */
    int64_t iterations;       /* most Newton steps of one function */
    const char *scale;        /* auto, none, standard, minmax; kept in the model */
    const char *solver;       /* auto, cholesky, pcg, primal: of Newton's systems; nystrom: in the span of landmarks */
    const mercer_own_loss *own; /* own-loss: the loss; NULL otherwise */
    int64_t rank;               /* nystrom: landmarks, 1000 at most; 0: automatic */
} mercer_loss;
MERCER_API void mercer_loss_init(mercer_loss *set, size_t size, const char *machine);
static inline mercer_loss mercer_loss_defaults(const char *machine) {
    mercer_loss set;
    mercer_loss_init(&set, sizeof set, machine);
    return set;
}

/* A loss of your own, convex in F = f(x) + b for each target y and with a slope everywhere. All functions are called
   from the calling thread, in any order; an answer that is no number stops the fit with a message that names the row.
   The model predicts, is saved and loaded like any other (machine "own-loss"); it holds no pointer to the functions. */
struct mercer_own_loss {
    size_t size;      /* sizeof(mercer_own_loss) */
    const char *name; /* for messages and the model's settings: letters, digits and hyphens */
    bool classes;     /* y is 1 or -1 (more than two classes: each against the rest), or a number */
    double (*value)(void *user, double y, double F); /* may be infinite far from the optimum, never NaN */
    double (*slope)(void *user, double y, double F); /* d value / dF */
    /* d slope / dF >= 0; where there is none, the one from either side */
    double (*curvature)(void *user, double y, double F);
    /* sup over F of v F - value: needed for the certificate, which makes sense of v = -lambda alpha / c within the
       range of the slope. NULL: found by search for every row, as an upper bound; the certificate then is a "numerical
       gap" */
    double (*conjugate)(void *user, double y, double v);
    /* the infimum and supremum of the slope over F; NULL: all numbers */
    void (*range)(void *user, double y, double *low, double *high);
    void *user;
};

/* A path: one machine for many values of its penalty, each found from the others at little cost, and all certified.

       ridge             lambda >= 0, in any order, from one eigendecomposition; nothing is fitted
       svc, svr          C, which rises; each fit starts from the last, scaled, at no cost in kernel values
       logistic, squared-hinge, huber, quantile, absolute
                         lambda, in any order; walked from the largest down, what is stored of K serves all

   Of the settings the penalty itself is not looked at, of ridge only intercept, scale and allow_indefinite. */
typedef struct mercer_path {
    size_t size, row_size; /* row_size: sizeof(mercer_path_row) */
    const double *values;
    int64_t count;
    const mercer_data *test; /* rows to measure each function on, for all but ridge; NULL: none */
    /* the number of the fold of each row, for all but svc and svr: rows with the same number leave together, and each
       fold is measured by the path over the rows outside it (ridge: exactly, at n^3 / k operations for k folds); NULL:
       none */
    const int64_t *fold;
} mercer_path;
/* What one value gives. NaN, of counts 0, where the machine has no such thing or there are no rows to measure on. */
typedef struct mercer_path_row {
    double value;
    double norm; /* sqrt(sum over outputs of |f|^2); of ridge the bound B of the constrained form with this lambda */
    double objective;                  /* ridge */
    double loo_rmse;                   /* ridge: of rows left out one by one, weighted, over all outputs */
    double gcv;                        /* ridge: generalised cross-validation, (weighted mean square) / (1 - dof/n)^2 */
    double dof;                        /* ridge: effective degrees of freedom, the intercept counted */
    double primal, dual, gap_relative; /* the certificate, as below */
    double kkt_violation;              /* svc, svr */
    double distance;                   /* convex losses */
    /* on the test rows, and on rows left out by folds (the mean over the folds): the share of right classes; of numbers
       the root mean square error, of quantile the mean pinball loss, of absolute the mean absolute error; of ridge the
       root mean square over all outputs and folds. Log losses are logistic's */
    double test, test_log_loss, fold, fold_log_loss;
    int64_t support_vectors, free_vectors, bounded_vectors, steps;
    double seconds; /* without the folds */
} mercer_path_row;
MERCER_API void mercer_path_init(mercer_path *set, size_t size, size_t row_size);
static inline mercer_path mercer_path_defaults(void) {
    mercer_path set;
    mercer_path_init(&set, sizeof set, sizeof(mercer_path_row));
    return set;
}
/* out: count rows of row_size bytes each. */
MERCER_API mercer_status mercer_fit_path(mercer_ctx *ctx, const char *machine, const void *settings,
                                         const mercer_kernel *kernel, const mercer_data *data, const mercer_path *path,
                                         mercer_path_row *out);
/* Exact residuals y - f of cross-validation without refitting, of ridge: rows with the same number in fold leave
   together (a fold, a group of rows that belong together, a row of its own), and each is predicted from all the others.
   residuals: n x outputs, row-major, NaN for rows of weight zero. variances: n, of y given the rows of other folds when
   f ~ GP(0, k) with noise lambda / w_i; NULL: not wanted. *rmse: the weighted root mean square of the residuals; NULL:
   not wanted. Columns are scaled once, by all rows. */
MERCER_API mercer_status mercer_fit_folds(mercer_ctx *ctx, const char *machine, const void *settings,
                                          const mercer_kernel *kernel, const mercer_data *data, const int64_t *fold,
                                          double *residuals, double *variances, double *rmse);

/* ---- Models ---- */

/* How far the answer can be from the optimum, recomputed from the raw data by code that does not trust the solver. The
   bounds hold for the problem as stated, in exact arithmetic; they are infinite where nothing can be said: for a kernel
   that is not proved, and for predictions when lambda = 0. The problem is that of the rows as the model scales them,
   with the shifts and factors it keeps, which are doubles. Several outputs: the residual is the root of the sum of
   squares, the gap the sum, the prediction bound the worst. With weights row i of the residual is times sqrt(w_i). */
typedef struct mercer_certificate {
    /* "residual"; "gradient" when lambda = 0 and for primal; "sampled residual"; "gap" for support vector machines and
       convex losses, "numerical gap" for a loss of your own without a conjugate, "sampled gap" for a loss among
       landmarks; "eigenvalues" for pca: residual is the largest |M v - theta v| over the components, relative to the
       largest theta; "exact" where nothing is optimised (knn); "none" for a model of LIBSVM, and for an updated one:
       |y - f - b| on the new rows, and no bound */
    const char *kind;
    /* |r| / |y|, r = y - b - (K + lambda/w) alpha; gradient: K r / max K_ii in place of r; primal, with weights v of
       the features Phi: (lambda v - Phi'(y - b - Phi v)) / max sqrt(K_ii) */
    double residual_relative;
    double residual; /* |r|, its rounding bound included */
    double rounding; /* the part of it that bounds the rounding of the check itself */
    /* |prediction - optimal prediction| <= this wherever k(x,x) is no more than on the training rows, and at any x
       constant + slope sqrt(k(x,x)), to which mercer_prediction_bound adds the rounding of the prediction. Infinite:
       nothing can be said; NaN: the file is older than the last two */
    double prediction_error_bound, prediction_error_constant, prediction_error_slope;
    double objective_gap; /* objective(f) - objective(f*) <= this */
    /* "sampled residual", for approximations: r is the residual of the exact problem at the coefficients w (y - b - f)
       / lambda that the fitted f implies; it is zero at the exact answer only, and over the training rows |f - f*| <=
       |r| (the root of the weighted sum of squares). Where not all rows are looked at, but the heaviest and some at
       random, residual and residual_relative are upper estimates, not bounds; the square of residual_estimate is
       unbiased. */
    int64_t sampled_rows; /* 0: all rows were looked at */
    double residual_estimate;
    /* "gap": values of the problem and its dual, summed over the quadratic programs, the first raised and the second
       lowered by what rounding can have done to it: dual <= optimum <= primal. gap, their difference, bounds how far
       the objective is from its optimum. gap_relative: beside them, or beside the objective of f = 0 where they are
       rounding. "sampled gap": of the exact problem, the primal value at the function among landmarks, and a dual that
       rests on sampled_rows of the rows: where these are not all, gap is an upper estimate and not a bound. NaN
       otherwise. */
    double primal, dual, gap, gap_relative;
    double kkt_violation; /* the largest over the quadratic programs, in the unit of the tolerance */
    /* convex losses, svc, svr and one-class: |f - f*| in H is no more (over all functions); NaN otherwise */
    double distance;
    double reserved[6]; /* 0: room for what later versions bound */
} mercer_certificate;

typedef struct mercer_report {
    const char *machine, *solver;
    bool approximate;      /* by nystrom or fourier: another problem was solved, close to the one asked for */
    const char *scale;     /* what was done to the columns: none, standard, minmax */
    int64_t n, d, outputs; /* n: rows that count, those of weight zero left out */
    double lambda, norm;   /* norm: sqrt(sum over outputs of |f|^2), or the most it can be where rounding hides it */
    double objective;      /* of a "gap" right to within the rounding of the certificate */
    double loo_rmse;       /* of rows left out one by one, weighted, over all outputs; NaN when not computed */
    /* ridge by primal always, by cholesky or eigen with loo_rmse: effective degrees of freedom, the intercept counted,
       and generalised cross-validation as in mercer_path_row; NaN otherwise */
    double dof, gcv;
    int64_t iterations;
    /* pcg: steps that suffice, known before the first from the trace the preconditioner leaves; 0 otherwise */
    int64_t iteration_bound;
    /* "no": it ran to its end; "time", "caller": stopped there, this is the best answer so far; "precision": the
       tolerance is below what double precision reaches here; "steps": too many of them; "held-out": this is an earlier
       answer, better on held-out rows than later ones */
    const char *stopped;
    double log_evidence;    /* gp: log marginal likelihood; NaN otherwise */
    double loo_log_density; /* gp: mean log density of rows left out one by one; NaN otherwise */
    /* eigen: eigenvalues of K above n * 2^-52 * the largest; cholesky: n; pcg: of the preconditioner; nystrom:
       landmarks kept; fourier: features */
    int64_t rank;
    int64_t support_vectors; /* rows with a coefficient, in any quadratic program; 0 for machines without */
    int64_t free_vectors, bounded_vectors; /* of all quadratic programs: off the bound (on the margin), and at it */
    double step;                           /* lms: the length of its steps; 0 otherwise */
    int64_t held_out; /* lms: rows held out, and the error on them, weighted, over all outputs; 0 without */
    double held_out_rmse;
    /* pca: the trace of M, the sum over all directions (of a kernel that is not proved, over those of positive
       eigenvalues); 0 otherwise */
    double variance;
    int64_t neighbors; /* knn: rows that decide; 0 otherwise */
    /* a model just updated: what its values at the old centres changed by, the root of the mean square, and the share
       of them that are now of another class; NaN where there were no centres, or no classes, 0 otherwise; not saved */
    double moved, changed;
    /* support vector machines: the share of values that were stored, 1 where rows were held dense, less where they were
       held sparse; 0 otherwise; not saved in the model */
    double stored;
    double seconds; /* of the fit; not saved in the model */
    mercer_certificate certificate;
    double log_evidence_error; /* gp: of an estimated log_evidence; twice it holds in 95% of estimates; 0: exact */
    int64_t nearest_nu;        /* nu-svc: quadratic programs answered for the nearest nu instead; not saved */
} mercer_report;

/* One principal component: its eigenvalue of M, the share of the variance, and a bound: an eigenvalue of M lies that
   near. */
typedef struct mercer_component {
    double eigenvalue, share, bound;
} mercer_component;
/* NaN for a model that is not of pca, and for a k that it does not have. */
MERCER_API mercer_component mercer_model_component(const mercer_model *model, int64_t k);

MERCER_API void mercer_model_free(mercer_model *model);
MERCER_API const mercer_report *mercer_model_report(const mercer_model *model);
MERCER_API const mercer_kernel *mercer_model_kernel(const mercer_model *model);
/* "lambda=0.1 intercept=no ..." as the fit was asked for */
MERCER_API const char *mercer_model_settings(const mercer_model *model);
/* columns of a prediction; as many as classes where there are any */
MERCER_API int64_t mercer_model_outputs(const mercer_model *model);
MERCER_API int64_t mercer_model_classes(const mercer_model *model); /* 0: regression */
MERCER_API const char *mercer_model_label(const mercer_model *model, int64_t k);
MERCER_API int64_t mercer_model_columns(const mercer_model *model); /* d of the data it predicts for */
/* rows kept; 0 where weights of features are the whole model */
MERCER_API int64_t mercer_model_centres(const mercer_model *model);
MERCER_API const char *mercer_model_column_name(const mercer_model *model, int64_t column);
/* as mercer_data_target_name */
MERCER_API const char *mercer_model_target_name(const mercer_model *model, int64_t output);

/* Read a file the way the training file was read: same columns by name, same encoding. The target may be absent. What
   stands in its column is not looked at where the machine learned from rows alone; one-class takes it as numbers, for a
   score, where set asks for numbers. */
MERCER_API mercer_status mercer_model_read(mercer_ctx *ctx, const mercer_model *model, const char *path,
                                           const mercer_read *set, mercer_data **out);
/* Values f_k(x_i), n x outputs, row-major. For classes the k-th value belongs to the k-th label; the largest wins, the
   first of equals. Columns must be the model's in number and, where both have names, in name; rows of LIBSVM text may
   have more, which count as columns where every training row is 0. The first prediction of
   at most 64 dense rows leaves the rows of the model packed, so that later ones of few rows take microseconds: as many
   bytes as they have values, freed with the model and counted by the context of that call; not where that would be more
   than a quarter of what its limit leaves. Every value is a finite number: one that no double holds, or whose kernel
   values none holds, is MERCER_NUMERIC with a message that names the row. */
MERCER_API mercer_status mercer_predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                        double *out);

/* The class of every row, n of them: the place of its largest value in mercer_predict, the first of equals. A support
   vector machine need not know the values for that: it looks in floats, whose error it bounds, and in doubles at the
   rows that floats leave open; at all of them where these are many. A decision that is 0 but for the rounding of
   doubles may fall to either side. */
MERCER_API mercer_status mercer_classify(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                         int64_t *out);

/* What the winner is chosen by, n x mercer_model_decisions, row-major. Where one value per class decides they are those
   of mercer_predict. A support vector machine by pairs has one for every pair of classes (1,2), (1,3), ..., (2,3), ...,
   positive for the first of the two; for two classes that is one value, for one-class the distance from the boundary,
   positive inside. */
MERCER_API int64_t mercer_model_decisions(const mercer_model *model);
MERCER_API mercer_status mercer_decide(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                       double *out);
/* How far the values of mercer_decide at each of these rows can be from those of the exact optimum, of n rows the worst
   of their decisions: the certificate's bound at this k(x,x) and what rounding can have done to the values. Infinite
   where nothing can be said, see mercer_certificate. */
MERCER_API mercer_status mercer_prediction_bound(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                                 double *out);
/* Probabilities of the classes, n x classes, row-major; each row sums to 1 up to rounding and its first largest entry
   is the class that mercer_predict chooses, always. For machines that give them: logistic. */
MERCER_API bool mercer_model_has_proba(const mercer_model *model);
MERCER_API mercer_status mercer_predict_proba(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                              double *out);
/* The two classes of a decision: first wins when it is positive. second -1: all the others. first -1: numbers. */
MERCER_API void mercer_model_decision(const mercer_model *model, int64_t decision, int64_t *first, int64_t *second);

/* The rows a support vector machine keeps: the place of centre i in the training data, from 0 (-1: not known), its
   coefficient in a decision, and the intercept of one. A decision is sum_i coefficient_i k(x_i, x) + intercept. */
MERCER_API int64_t mercer_model_row(const mercer_model *model, int64_t centre);
MERCER_API double mercer_model_coefficient(const mercer_model *model, int64_t centre, int64_t decision);
MERCER_API double mercer_model_intercept(const mercer_model *model, int64_t decision);
/* Weights of the explicit features of the kernel, in the order of mercer_features: a decision is sum_j weight_j
   phi_j(x) + intercept. Of ridge by primal, whose model they are, and of support vector machines with a linear kernel.
   Features 0: the model has none. */
MERCER_API int64_t mercer_model_features(const mercer_model *model);
MERCER_API double mercer_model_weight(const mercer_model *model, int64_t feature, int64_t decision);
/* The same for all centres in one call: their places, and their coefficients, centres x decisions, row-major. */
MERCER_API void mercer_model_rows(const mercer_model *model, int64_t *out);
MERCER_API void mercer_model_coefficients(const mercer_model *model, double *out);

/* The bounds of a decision of a support vector machine: the multiplier of a row is at most C x weight. nu-svc finds its
   C and nu-svr its epsilon; infinite for a hard margin, NaN where the model does not say (LIBSVM's, older files). */
typedef struct mercer_svm_box {
    double C, epsilon;
} mercer_svm_box;
MERCER_API mercer_svm_box mercer_model_box(const mercer_model *model, int64_t decision);

/* The primal view of a support vector machine: how it stands with a row it was fitted to, in one decision. */
typedef enum mercer_vector {
    MERCER_VECTOR_ABSENT = 0, /* not in this decision: of neither class of the pair, or of weight zero */
    MERCER_VECTOR_UNUSED = 1, /* alpha = 0: the function would be the same without the row */
    MERCER_VECTOR_FREE = 2,   /* 0 < alpha < its bound: exactly on the margin, or on the edge of the tube */
    MERCER_VECTOR_BOUNDED = 3 /* alpha at its bound: on the margin or inside it, on the edge or outside the tube */
} mercer_vector;
typedef struct mercer_svm_view {
    /* classes: y (f(x) + b), y = 1 for the first class of the decision, -1 for the other. Numbers: y - f(x) - b,
       positive above. one-class: f(x) + b, positive inside */
    double margin;
    /* what the row costs, C and weight apart: max(0, 1 - margin), max(0, |y - f - b| - epsilon), max(0, -f - b) */
    double slack;
    double alpha; /* its multiplier, in the unit of C; numbers: negative for a row below the tube */
    mercer_vector state;
} mercer_svm_view;
/* data: the rows of the fit, in their order; others are refused. out: n x mercer_model_decisions, row-major; what a row
   absent has is NaN, its alpha 0. */
MERCER_API mercer_status mercer_svm_rows(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                         mercer_svm_view *out);

/* A decision of a model, its intercept apart, is a function f = sum_i coefficient_i k(x_i, .) in the space H of its
   kernel. Their inner product, whose square root with itself is the norm; their distance |f - g|. Kernels, columns and
   scaling must be the same; what knn and fourier predict is no function of H. <f, k(x, .)> is f(x). */
MERCER_API mercer_status mercer_model_inner(mercer_ctx *ctx, const mercer_model *f, int64_t decision_f,
                                            const mercer_model *g, int64_t decision_g, double *out);
MERCER_API mercer_status mercer_model_distance(mercer_ctx *ctx, const mercer_model *f, int64_t decision_f,
                                               const mercer_model *g, int64_t decision_g, double *out);

typedef struct mercer_scores {
    size_t size;
    int64_t n;
    double accuracy, balanced_accuracy; /* classes; NaN otherwise */
    double auc;                         /* two classes; NaN otherwise. Ties count half */
    double log_loss;                    /* machines that give probabilities; NaN otherwise */
    double ece;                         /* these too: expected calibration error, over MERCER_CALIBRATION_BINS bins */
    /* two classes: 2 tp / (2 tp + fp + fn) of the second; more: the mean over the classes */
    double f1;
    double rmse, mae; /* numbers; over all outputs */
    double r2;        /* numbers; the mean over outputs, NaN when an output does not vary */
    double pinball;   /* quantile: the mean of tau r above and (tau - 1) r below, r = y - f; NaN otherwise */
} mercer_scores;
/* Row weights of the data count. Data without a target, or with a class the model does not know, are an error. */
MERCER_API mercer_status mercer_score(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                      mercer_scores *out);
/* The same, and which classes are taken for which: confusion is (classes + 1) x classes, row-major, in the model's
   order; entry (k, j) is the weight of the rows of class k that are given j, their number where they have no weights.
   The last row is of classes that the model does not know. Entry (k, k) over the sum of its row is the recall of class
   k, over the sum of its column its precision. NULL: not wanted. A model of numbers is an error where it is. */
MERCER_API mercer_status mercer_score_classes(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                              mercer_scores *out, double *confusion);

/* The calibration curve of a machine that gives probabilities: the rows of data whose predicted class has a probability
   from low to high, their mean probability, and the share of them that is right. Where probabilities mean what they say
   the two are equal; the mean of their difference, weighted by the rows, is the expected calibration error. out: bins
   of equal width from 0 to 1. */
enum { MERCER_CALIBRATION_BINS = 15 };
typedef struct mercer_calibration_bin {
    double low, high;
    double weight;               /* of its rows: their number where they have no weights */
    double confidence, accuracy; /* NaN without rows */
} mercer_calibration_bin;
MERCER_API mercer_status mercer_calibration(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                            int64_t bins, mercer_calibration_bin *out);

/* A new model from an old one and new rows, as they might arrive one by one: row i becomes a centre and moves by step
   w_i (y_i - f(x_i)), f after every step that of the coefficients then. The kernel, the scaling and the intercept stay.
   When there are more centres than the budget, those with the smallest |coefficients| sqrt(k(x,x)), the norm of what
   they contribute, are dropped, the oldest of equals first; what they contributed is lost. A row dropped comes back
   when a later pass meets it. The model must be of lms, or of ridge, whose function is then the start of LMS steps: the
   result is an lms model and no longer a solution of the ridge problem. A model that meets the new rows worse than the
   old one, cut down to the budget, is none: MERCER_NUMERIC, with both errors. */
typedef struct mercer_update {
    size_t size;
    /* 0: 1 over the largest eigenvalue of W^1/2 K W^1/2 over the new rows, or less, so that their squared error falls;
       the best of longer ones under a budget. A step that reaches 2 / max w k(x,x) is an error that names it */
    double step;
    int64_t budget; /* most centres; 0: no limit */
    int64_t passes; /* over the new rows, in their order */
} mercer_update;
MERCER_DEFAULTS(mercer_update, mercer_update_init, mercer_update_defaults)
MERCER_API mercer_status mercer_model_update(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                             const mercer_update *set, mercer_model **out);

/* Model files: see docs/model-format.md. Saving is atomic. The same input, seed and settings give the same bytes. */
MERCER_API mercer_status mercer_model_save(mercer_ctx *ctx, const mercer_model *model, const char *path);
/* also LIBSVM's model files */
MERCER_API mercer_status mercer_model_load(mercer_ctx *ctx, const char *path, mercer_model **out);
/* The bytes of the file in memory instead: *size says how many there are; bytes NULL: that alone, otherwise there must
   be room for them. */
MERCER_API mercer_status mercer_model_to_memory(mercer_ctx *ctx, const mercer_model *model, void *bytes,
                                                size_t capacity, size_t *size);
MERCER_API mercer_status mercer_model_from_memory(mercer_ctx *ctx, const void *bytes, size_t size, mercer_model **out);
/* The same as loading, for a model whose kernel calls functions of yours. */
MERCER_API mercer_status mercer_model_load_with(mercer_ctx *ctx, const char *path, const mercer_user_kernel *users,
                                                int count, mercer_model **out);
/* For other programs. "libsvm": a model file of LIBSVM with 17 digits, for its kernels, unscaled columns and whole
   numbers as labels. "c": one file of C99 without dependencies that predicts as the model does, "c-float" with tables
   of float; its functions are named after the file and described at its top. "onnx": a graph from raw rows X to label,
   scores and probabilities, or to prediction: support vector machines with LIBSVM's kernels by operators of ai.onnx.ml,
   which hold floats, all else by standard operators in double; "onnx-double": those always. */
MERCER_API mercer_status mercer_model_export(mercer_ctx *ctx, const mercer_model *model, const char *format,
                                             const char *path);

/* ---- Samples ---- */

/* A test by permutation: p = (1 + exchanges that do as well as the sample or better) / (1 + permutations), valid for
   any number of rows. The seed decides, the same bits on any number of threads. Row weights and targets are not looked
   at. */
typedef struct mercer_test {
    size_t size;
    double statistic; /* of the sample */
    double p_value;
    double null_mean, null_std; /* of the statistic over the exchanges */
    int64_t permutations, n, m; /* rows */
} mercer_test;
/* Are x and z drawn alike? |mean of phi over x - mean of phi over z|^2 in the space of the kernel, bound to the rows of
   both. */
MERCER_API mercer_status mercer_test_mmd(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                         const mercer_data *z, int64_t permutations, uint64_t seed, mercer_test *out);
/* Are what k sees of a row and what l sees of it independent (rbf[1:3] and rbf[4])? HSIC = trace(K H L H) / n^2, H
   taking means off. Keeps two matrices of n x n. */
MERCER_API mercer_status mercer_test_hsic(mercer_ctx *ctx, const mercer_kernel *k, const mercer_kernel *l,
                                          const mercer_data *data, int64_t permutations, uint64_t seed,
                                          mercer_test *out);

/* Kernel k-means: min over groups of sum_i |phi(x_i) - mean of its group|^2, by passes from several starts; for linear
   this is k-means. */
typedef struct mercer_clustering {
    size_t size;
    int64_t clusters, restarts, iterations; /* iterations: passes of one start at most */
    uint64_t seed;
} mercer_clustering;
MERCER_DEFAULTS(mercer_clustering, mercer_clustering_init, mercer_clustering_defaults)
typedef struct mercer_clusters {
    size_t size;
    double objective, total; /* total: the same sum with one group */
    int64_t iterations;      /* of the best start */
} mercer_clusters;
/* group: n numbers from 0, in the order of first rows. */
MERCER_API mercer_status mercer_cluster(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                        const mercer_clustering *set, int64_t *group, mercer_clusters *out);
/* Spectral clustering: rows are joined as strongly as k says, which must not be negative and need not be proved; k(x,x)
   does not count. The eigenvectors of the least eigenvalues of the normalised Laplacian I - D^-1/2 A D^-1/2 give each
   row as many coordinates as there are groups; scaled to length one they are grouped by k-means, whose objective and
   total are told. eigenvalues: these, one per group, rising from 0; a large step to the next says that the number of
   groups is right. */
MERCER_API mercer_status mercer_cluster_spectral(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                                 const mercer_clustering *set, int64_t *group, double *eigenvalues,
                                                 mercer_clusters *out);

/* ---- Plan ---- */

typedef struct mercer_choice {
    const char *solver, *reason;
    size_t memory_bytes;
    double seconds;
    bool possible;
} mercer_choice;

typedef struct mercer_plan {
    size_t size;
    mercer_choice chosen;
    mercer_choice alternatives[8];
    int alternative_count;
    /* Where products with K would be made: "cpu" or a card, as the option device takes it; why; and the seconds of the
       chosen solver on either. card_seconds: with those that opening the card takes; NAN: no card could do them. */
    const char *device, *device_reason;
    double cpu_seconds, card_seconds;
    /* Memory that products in double take on the card, at most; 0: they are made here. What is more than its limit is
       streamed, by blocks of the rows. */
    size_t card_bytes;
} mercer_plan;
/* Which solver a fit would take and why, with bytes and seconds forecast; runs nothing but a short measurement. */
MERCER_API mercer_status mercer_plan_fit(mercer_ctx *ctx, const char *machine, const void *settings,
                                         const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out);

/* What ridge would take of which there are no data yet, on so many processes that share its work, each with the threads
   and the memory limit of this context. */
typedef struct mercer_scale_of_fit {
    size_t size;
    int64_t rows, columns, ranks;
    int64_t steps, rank; /* of pcg, which data would tell: 30, with a preconditioner of 1000 columns */
    int64_t landmarks;   /* of nystrom, and half as many waves of fourier: 10000 */
    double bandwidth;    /* between two processes: 1e10 bits a second */
    double latency;      /* of a message: 3e-5 seconds */
} mercer_scale_of_fit;
MERCER_DEFAULTS(mercer_scale_of_fit, mercer_scale_of_fit_init, mercer_scale_of_fit_defaults)
/* From rates that are measured here, on random rows of so many columns, more threads than there are processors taken
   to be as fast; bytes are those of one process. Reading the rows is not counted. */
MERCER_API mercer_status mercer_plan_ranks(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_scale_of_fit *set,
                                           mercer_plan *out);

/* ---- Tuning ---- */

/* A search for settings and kernel parameters. Candidates come from kernels with ranges rbf(gamma=1e-3..10) or sets {1,
   2}, and from ranges and sets of the machine's settings, "C=0.1..1000", "epsilon={0.1, 0.2}". A range of positive
   numbers is cut on a logarithmic scale. Each candidate is measured on rows it did not learn from:

       ridge      every row left out in turn, exactly and without refitting, all values of lambda at once; folds too
       gp         the evidence, largest over the kernel's parameters, from the candidate's kernel as the start
       svc, svr   folds; all values of C along one path, each from the last
       logistic, squared-hinge, huber, quantile, absolute   the same along lambda
       others     folds, fitted one by one

   Scaling and default bandwidths: of all rows where ridge leaves rows out in closed form, of the rows learned from
   otherwise. */
typedef struct mercer_search mercer_search;
typedef struct mercer_tune {
    size_t size;
    /* kernel_count of them; NULL: rbf, with gamma from 1/32 of its default to 32 times; knn: with its default, every
       gamma having the same neighbours; with texts that the reading found, mercer_kernel_default with p from 2 to 5 */
    const mercer_kernel *const *kernels;
    int64_t kernel_count;
    /* "name=range" or "name=set", closed by NULL; NULL: those that suit the machine, see mercer_tune_range */
    const char *const *ranges;
    int64_t points; /* of each range on the grid; 0: 8, and 50 for lambda of ridge */
    /* grid; random: points of a scrambled Sobol sequence; gradient: L-BFGS down the rmse of rows or folds left out
       (ridge), or up the evidence (gp), within the ranges, from the middle of them and from points of such a sequence,
       for every combination of sets and whole numbers. Every point measured on the way is a candidate. MERCER_INVALID
       for other machines and scores */
    const char *search;
    int64_t candidates;        /* random: how many, 0: 50; gradient: starts of each kernel and combination, 0: 4 */
    int64_t folds;             /* 0: every row left out (ridge), the evidence (gp), 5 or as many as can be filled */
    int64_t repeats;           /* of the folds, with other seeds */
    const char *const *groups; /* n texts: rows of one text leave together; NULL: none */
    /* rows are in order of time: each of the folds is predicted from the rows before it alone */
    bool ordered;
    const mercer_data *hold_out; /* measure on these rows instead of folds; NULL: none */
    /* auto; accuracy, balanced-accuracy, log-loss, auc, f1; rmse, mae, r2, pinball; gcv, of ridge; evidence, of gp */
    const char *score;
    /* of the candidates within one standard error of the best take the one with the strongest penalty */
    bool one_error;
    /* all candidates on few rows, the best sixteenth on four times as many, and so on; where every row is left out in
       closed form, downhill from the best of few rows, at most 8 candidates on all rows */
    bool halving;
    /* of the same machine: its winner is measured too (grid, random), and the best no worse; NULL: none */
    const mercer_search *start;
    /* a file that keeps what was measured, so that a search can be resumed; NULL: none */
    const char *journal;
    uint64_t seed; /* of folds, of the sequence and of the rows of halving */
} mercer_tune;
MERCER_DEFAULTS(mercer_tune, mercer_tune_init, mercer_tune_defaults)
/* The range searched where the caller names none: "C=0.1..1000"; NULL: the machine has none. */
MERCER_API const char *mercer_tune_range(const char *machine);

typedef struct mercer_candidate {
    const char *kernel, *settings; /* "rbf(gamma=0.1)", "C=10 epsilon=0.1": what was searched; "" where nothing was */
    double score, error;           /* mean over the folds and its standard error; NaN: not measured, not known */
    int64_t rows;                  /* of the data it was last measured with: fewer than all where halving left it out */
    double seconds;
} mercer_candidate;

/* settings: the machine's struct, NULL: its defaults; what is searched is taken from the ranges. Texts in it must
   outlive the search. Stopped by the time limit or the caller, it gives what it has when at least one candidate is
   measured. The same input and seed give the same search on any number of threads. */
MERCER_API mercer_status mercer_tune_run(mercer_ctx *ctx, const char *machine, const void *settings,
                                         const mercer_tune *set, const mercer_data *data, mercer_search **out);
/* The short search of `mercer fit` when neither kernel nor lambda or C is given, for ridge, svc, svr and logistic:
   seven to thirteen values of gamma of rbf, from 1/32 of its default to 32 times, and a few of lambda or C, measured
   on a seeded part of the rows (all of few), so that it costs about two fits at most of many rows, and some tenths of
   a second of few. ridge by rows left out, the others by five folds; accuracy is judged by the mean with the
   neighbouring candidates, and within half a standard error of the best the smallest C is taken. For ridge
   matern(nu=2.5) with one length scale for every column, learned by a Gaussian process in twenty steps, is compared
   with rbf and taken where it is clearly better. Of data with texts that the reading found p is searched instead,
   from 2 to 5, and rbf has its default gamma. Under a time limit it takes a third of it: 200 rows first, then as many
   as there is time for, which the closed forms of ridge make short where others would take fits; mercer_search_fit
   fits its choice to many rows in stages. MERCER_INVALID for other machines and for fewer than 20 rows. */
MERCER_API mercer_status mercer_tune_default(mercer_ctx *ctx, const char *machine, const void *settings,
                                             const mercer_data *data, mercer_search **out);
MERCER_API void mercer_search_free(mercer_search *search);
MERCER_API int64_t mercer_search_count(const mercer_search *search);
MERCER_API mercer_candidate mercer_search_candidate(const mercer_search *search, int64_t i);

typedef struct mercer_tune_report {
    const char *score; /* its name */
    bool larger_is_better;
    const char *splits;  /* "5 folds, stratified" */
    const char *stopped; /* "no", "time", "caller" */
    int64_t best;        /* the candidate chosen */
    int64_t first;       /* the one with the best score: another where one_error is set */
    int64_t measured;    /* candidates with a score of all rows */
    int64_t within;      /* of those, how many are no more than one standard error from the best score */
    double share;        /* of resampled folds under which the first is still first; NaN where there are none */
    int64_t resumed;     /* measurements taken from the journal */
    bool halved;
} mercer_tune_report;
MERCER_API const mercer_tune_report *mercer_search_report(const mercer_search *search);
/* All of it as JSON: what mercer_model_search gives for the model. */
MERCER_API const char *mercer_search_json(const mercer_search *search);
/* The chosen candidate fitted to all rows; the search is recorded in the model and saved with it. */
MERCER_API mercer_status mercer_search_fit(mercer_ctx *ctx, const mercer_search *search, const mercer_data *data,
                                           mercer_model **out);
/* The search that chose the model, as JSON; "" for a model that was fitted without one. */
MERCER_API const char *mercer_model_search(const mercer_model *model);
/* How a model came about that was fitted in stages, under a time limit or by a default fit of many rows, as JSON
   (docs/command.md: rows held out, the stages with their errors on them, what more time would bring); "": in one go. */
MERCER_API const char *mercer_model_stages(const mercer_model *model);

/* What a search and the fit of its winner to all rows would take. Bytes are a promise. Seconds are a forecast:
   operations are counted and the speed of this machine is measured; where the steps depend on the rows, part of the
   search is done on few of them, for a second. */
typedef struct mercer_tune_plan {
    size_t size;
    int64_t rows; /* of the data searched */
    /* fits: those that cannot be had from another one in closed form or along a path; of a search by gradients about as
       many as it takes steps, and the candidates are its starts */
    int64_t candidates, splits, fits;
    const char *engine; /* how candidates are measured, in words */
    size_t memory_bytes;
    double seconds;
    bool possible;
} mercer_tune_plan;
MERCER_API mercer_status mercer_plan_tune(mercer_ctx *ctx, const char *machine, const void *settings,
                                          const mercer_tune *set, const mercer_data *data, mercer_tune_plan *out);
/* What the short search of mercer_tune_default would take, without the fit of its winner, which mercer_plan_fit
   forecasts. rows: those it is done on. MERCER_INVALID and MERCER_MEMORY where there would be no search. */
MERCER_API mercer_status mercer_plan_default(mercer_ctx *ctx, const char *machine, const void *settings,
                                             const mercer_data *data, mercer_tune_plan *out);

#ifdef __cplusplus
}
#endif
#endif
