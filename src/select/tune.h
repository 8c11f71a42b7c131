/* tune.h: a search, between its files.

       search_space.c     what is searched: ranges and sets of kernels and settings as dimensions, candidates as points
       ranges.c           a range or a set of a setting, from text
       sobol.c            points that fill a cube evenly
       splits.c           which rows are learned from and which are measured on
       measure_scores.c   scores by name, of all rows and of parts of them
       engines.c          how candidates are measured: the table of engines; fits one by one
       engine_path.c      along C or lambda
       engine_leave_out.c by closed forms
       measure_round.c    the candidates of a round through all splits
       search_stages.c    which rounds there are, on how many rows
       search_rounds.c    one after the other; halving
       grid_descent.c     which candidates of a grid of closed forms are measured on more rows
       gradient_search.c  candidates found on the way down the slopes of the error
       journal.c          what was measured, kept in a file
       choose_winner.c    the winner and how sure it is
       search_json.c      the search as JSON
       tune.c             the order of work, and the public calls
       default_search.c   the short search of a fit for which nothing is given
       plan_tune.c        what it would take
       plan_try.c         some of it on few rows, for that */
#ifndef MC_SELECT_TUNE_H
#define MC_SELECT_TUNE_H

#include "base/text.h"
#include "plan/cost.h"
#include "learn/svm/svm_folds.h"
#include "model/model.h"
#include <stdio.h>

/* ---- What is searched ---- */

typedef struct mc_dimension {
    char name[64];                 /* "C", "rbf.gamma", "2.rbf.gamma" */
    const mercer_setting *setting; /* NULL: of a kernel */
    int64_t place;                 /* of a kernel: where it stands in the text (mc_value.offset) */
    bool log, whole, set;          /* set: the values are all there is, and random points are drawn among them */
    double low, high;
    int64_t count;
    double *value; /* count, as the grid takes them */
} mc_dimension;

/* GRADIENT: the candidates are starts, from which an engine with slopes finds others. */
typedef enum mc_search_method { MC_GRID, MC_RANDOM, MC_GRADIENT } mc_search_method;

/* Dimensions of settings first, the one along which an engine follows a path last among them; then those of the first
   kernel, of the second, ... */
typedef struct mc_search_space {
    const mercer_machine *machine;
    const mercer_kernel *const *kernel;
    int64_t kernels, settings, dimensions;
    bool has_path;  /* the last of the settings is the engine's path */
    int64_t *begin; /* kernels + 1: where the dimensions of each begin */
    mc_dimension *dimension;
    int64_t width;  /* most numbers of one candidate */
    int64_t count;  /* candidates */
    int64_t *of;    /* count: the kernel */
    double *number; /* count x width: settings, then parameters of the kernel */
    mc_search_method method;
} mc_search_space;

mercer_status mc_search_method_find(mercer_ctx *ctx, const char *name, mc_search_method *out);
/* path: the setting along which an engine follows a path, "" for none. */
mercer_status mc_search_space_open(mercer_ctx *ctx, const mercer_machine *machine, const mercer_tune *set,
                                   const char *path, mc_search_space *out);
/* The candidates in it, by the method of the search: search_candidates.c. */
mercer_status mc_search_space_fill(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *space);
void mc_search_space_close(mc_search_space *space);
/* The k-th number of the candidates of a kernel: settings first; and whether it is free to take any value of its range.
   */
const mc_dimension *mc_search_space_dimension(const mc_search_space *space, int64_t kernel, int64_t k);
int64_t mc_search_space_numbers(const mc_search_space *space, int64_t kernel);
bool mc_dimension_free(const mc_dimension *d);
/* Numbers that are drawn or found are to be read. */
double mc_six_digits(double v);
/* Where u in [0, 1) lies on a dimension, to six digits, and the other way round. */
double mc_dimension_at(const mc_dimension *d, double u);
double mc_dimension_share(const mc_dimension *d, double value);
/* Whether two points, each with its kernel, differ by no more than that share of every range, and in nothing else. */
bool mc_search_space_near(const mc_search_space *space, int64_t kernel_a, const double *a, int64_t kernel_b,
                          const double *b, double share);
/* The end of the run that begins with candidate i: all but the last setting is the same. */
int64_t mc_search_space_run(const mc_search_space *space, int64_t i);
mercer_status mc_search_space_kernel(mercer_ctx *ctx, const mc_search_space *space, int64_t i, mercer_kernel **out);
/* The settings of a candidate written over those given. */
void mc_search_space_settings(const mc_search_space *space, int64_t i, void *settings);
void mc_search_space_write(const mc_search_space *space, int64_t i, mc_text *text); /* "C=10 epsilon=0.1" */

/* "name=lo..hi" or "name={a, b}" of a setting of the machine. */
mercer_status mc_range_read(mercer_ctx *ctx, const mercer_machine *machine, const char *text, int64_t points,
                            mc_dimension *out);
/* The values of a dimension with low, high, log and whole: points of them, or as many whole numbers as there are. */
mercer_status mc_dimension_grid(mercer_ctx *ctx, mc_dimension *d, int64_t points);

/* The i-th point of a scrambled Sobol sequence: d numbers in [0, 1). d at most MC_SOBOL_MOST. */
enum { MC_SOBOL_MOST = 12 };
void mc_sobol_point(uint64_t seed, int64_t i, int64_t d, double *out);

/* ---- Where it is measured ---- */

enum { MC_BLOCKS = 20 }; /* parts of rows that are measured together, for the standard error */
enum { MC_SPLITS_TEXT = 240, MC_FORGIVEN = 320 };

typedef struct mc_splits {
    int64_t count;
    int64_t *rows;           /* of each split: those learned from, then those measured on */
    int64_t *begin;          /* 2 count + 1: where they begin in rows; NULL with hold_out */
    int64_t *fold;           /* n: where every row is measured once and all others are learned from; NULL otherwise */
    const mercer_data *test; /* a fixed hold-out */
    int64_t independent;     /* splits that do not repeat each other */
    bool singles;            /* classes of one row are learned from in every split */
    char text[MC_SPLITS_TEXT];
} mc_splits;

/* As many folds as rows, classes and groups fill, five at most. compares: the score is of several rows together. */
mercer_status mc_splits_default(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, bool compares,
                                int64_t *folds);
mercer_status mc_splits_open(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                             const char *const *groups, mc_splits *out);
void mc_splits_close(mc_splits *splits);
/* The rows of a split as data. test is not owned with a fixed hold-out: free it with mc_split_free. */
mercer_status mc_split_take(mercer_ctx *ctx, const mc_splits *splits, const mercer_data *data, int64_t k,
                            mercer_data **train, mercer_data **test);
void mc_split_free(const mc_splits *splits, mercer_data *train, mercer_data *test);

/* ---- What is measured ---- */

typedef struct mc_measure_row {
    const char *name;
    size_t offset; /* in mercer_scores */
    bool larger, classes, sorted;
    bool total; /* of all rows at once, by the machine itself: no parts, no standard error */
} mc_measure_row;
extern const mc_measure_row mc_evidence, mc_gcv;
mercer_status mc_measure_find(mercer_ctx *ctx, const mercer_machine *machine, const char *name, const mercer_data *data,
                              const mc_measure_row **out);
/* The score of some values. */
mercer_status mc_measure_values(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, double *out);
/* The score of all rows, then of each of the parts alone: part[i] says where row i belongs. */
mercer_status mc_measure_parts(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, const int64_t *part,
                               int64_t parts, double *out);
/* The score of all rows, then the pseudo-values of the jackknife, whose spread gives its standard error for any score:
   B s - (B - 1) s_b, s_b the score without a block of every B-th row. */
mercer_status mc_measure_blocks(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, double *out);

/* ---- How ---- */

/* All that stays the same while candidates are measured. */
typedef struct mc_round {
    const mc_search_space *space;
    const void *settings;
    const mercer_data *data;
    const mc_measure_row *measure;
    mc_splits splits;
    /* scores of one candidate beside that of all: one of each split, or of blocks where there is one split */
    int64_t parts;
    /* numbers that follow them: what the engine goes down, and its slope along every number of the candidate; 0: none
       */
    int64_t slopes;
    int number;
    struct mc_shared_kernel *shared; /* what one measurement leaves for the next ones */
    char *forgiven; /* MC_FORGIVEN bytes: why the first candidate without a score has none; NULL: not wanted */
} mc_round;

static inline int64_t mc_round_width(const mc_round *r) {
    return r->parts + 1 + r->slopes;
}

/* What one K for all splits of a run has said. */
typedef struct mc_shared_kernel {
    int64_t begin; /* the run it belongs to */
    int64_t outputs;
    double **values; /* of each split, for each C the outputs of the rows it is measured on; NULL: K did not fit */
    double *outputs_block;
    bool made;
    mc_svm_buffers buffers;
} mc_shared_kernel;

/* Candidates [begin, end) of one run. */
typedef struct mc_run {
    int64_t begin, end;
    mercer_kernel *kernel;
    void *settings; /* those of the first */
} mc_run;

/* What a run takes, beside the rows it learns from and the problem made of them. */
typedef struct mc_run_cost {
    const char *text; /* how, in words */
    size_t bytes;     /* comes with those of a fit */
    bool shared;      /* all splits come from one walk */
    /* work holds the operations of a run of so many candidates; else a trial must show its seconds */
    bool counted;
    mc_solver_option work;
} mc_run_cost;

typedef struct mc_engine {
    const char *text; /* for people */
    const char *path; /* the setting along which many values cost little; "": none */
    bool whole;       /* one call measures all splits */
    int64_t steps;    /* of a search by gradients, about, from each start; 0: none */
    /* out: candidates x mc_round_width: the score of all rows (NaN: the mean of the parts), then the parts; only those
       of the split with splits. Then the slopes, if any; NaN where there is no score. */
    mercer_status (*measure)(mercer_ctx *ctx, const mc_round *round, const mc_run *run, int64_t split, double *out);
    /* Of a run of count candidates: problem is of the rows learned from, of all of them where all splits are measured
       in one call or share what is made. NULL: nothing beside a fit. */
    void (*estimate_cost)(mercer_ctx *ctx, const mc_round *round, const mc_problem *problem, const mercer_data *test,
                          int64_t count, mc_run_cost *out);
} mc_engine;
/* exact: where the machine has closed forms and they may be used. */
const mc_engine *mc_engine_of(const mercer_machine *machine, bool exact);
/* Down the slopes, where there are any: NULL for gp, which goes up its own from every candidate. */
mercer_status mc_engine_slopes(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                               const mercer_tune *set, const mc_measure_row *measure, const mc_engine **out);
void mc_shared_close(mc_shared_kernel *shared);
/* Whether closed forms serve: no hold-out, no order of time, no repeats, no approximation, memory for them. */
bool mc_engine_exact(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_tune *set,
                     const mercer_data *data);

/* ---- The journal ---- */

typedef struct mc_journal {
    FILE *file; /* NULL: none */
    const char *path;
    int64_t count, capacity; /* measurements read from it */
    struct mc_entry *entry;
} mc_journal;

/* search_key.c: of whatever decides a measurement. */
uint64_t mc_search_key(const mercer_search *s, const mercer_tune *set, const mercer_data *data);
mercer_status mc_journal_open(mercer_ctx *ctx, const char *path, uint64_t key, mc_journal *out);
void mc_journal_close(mc_journal *journal);
/* What the journal has of a run and split: false when something is missing. out as in mc_engine. */
bool mc_journal_get(const mc_journal *journal, const mc_round *round, const mc_run *run, int64_t split, double *out);
mercer_status mc_journal_put(mercer_ctx *ctx, mc_journal *journal, const mc_round *round, const mc_run *run,
                             int64_t split, const double *values);

/* ---- The search ---- */

/* By its own score, or as a fit does for which nothing is given: choose_winner.c. Then there is one setting, and a
   second kernel, if any, has parameters learned from the same rows: it must be clearly better than the first. */
typedef enum mc_choosing { MC_BEST, MC_LEVEL } mc_choosing;

struct mercer_search {
    const mercer_machine *machine;
    mc_choosing choice;
    void *settings;
    const mc_measure_row *measure;
    mc_search_space space;
    const mc_engine *engine;
    mercer_kernel *owned;        /* the kernel made for the caller who gave none */
    const mercer_kernel **list;  /* the kernels and that of the winner of an earlier search; NULL: there was none */
    mercer_kernel *winner;       /* of the chosen candidate */
    int64_t folds;               /* 0: closed forms without folds */
    char *texts;                 /* of every candidate its kernel and its settings, each closed by a zero */
    const char **kernel, **text; /* count: where they stand */
    int64_t parts;
    double *value; /* count x (parts + 1) */
    double *error, *seconds;
    int64_t *rows; /* of the data it was last measured with; 0: never */
    int64_t resumed;
    mercer_tune_report report;
    char splits[MC_SPLITS_TEXT], forgiven[MC_FORGIVEN];
    char *json;
};

/* Measures all candidates of the search; stops with MERCER_TIME or MERCER_CANCELLED. */
mercer_status mc_search_measure(mercer_ctx *ctx, mercer_search *s, const mercer_tune *set, const mercer_data *data,
                                mc_journal *journal);
/* first, best, within and share of the report. MERCER_NUMERIC when no candidate has a score. */
mercer_status mc_search_choose(mercer_ctx *ctx, mercer_search *s, const mercer_tune *set);
mercer_status mc_search_record(mercer_ctx *ctx, mercer_search *s);
/* Everything up to the first measurement, which the planner shares. s->space borrows the kernels of set. Close it after
   a failure too. */
mercer_status mc_search_open(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_tune *set, const mercer_data *data, mercer_search *s);
void mc_search_close(mercer_search *s);
/* rbf with a range around the gamma that the data, scaled as the machine will scale them, give it; for knn with that
   gamma. */
mercer_status mc_tune_kernel(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_data *data, mercer_kernel **out);
/* mercer_tune_run for use inside the library. */
mercer_status mc_tune_run(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_tune *set,
                          mc_choosing choice, const mercer_data *data, mercer_search **out);
/* ---- Downhill on a grid of closed forms ---- */

enum { MC_STARTS = 3 };
typedef struct mc_descent {
    const mercer_search *s;
    int64_t rows;             /* of this level: candidates measured with so many count */
    int64_t *floor;           /* of each run: the place of the best on the few rows of the first level */
    int64_t start[MC_STARTS]; /* candidates to begin with */
    int64_t starts, tried, level;
} mc_descent;

/* Whether it can be used: closed forms, on a grid, with lambda along every run. */
bool mc_descent_applies(const mercer_search *s);
/* After all candidates were measured with so many rows. */
mercer_status mc_descent_open(mercer_ctx *ctx, const mercer_search *s, int64_t rows, mc_descent *out);
void mc_descent_close(mc_descent *d);
/* From here on with so many rows, more than before. */
void mc_descent_level(mc_descent *d, int64_t rows);
/* The candidate to be measured next; -1: none promises enough. */
int64_t mc_descent_next(mc_descent *d);

/* ---- What a search goes through ---- */

/* Rows: share of all equal parts. Where candidates are measured one at a time, as grid_descent.c asks: the level from
   1, and how many it mostly takes; 0 elsewhere. begin and end: of the whole search, by what its stages cost. */
typedef struct mc_stage {
    int64_t share, all, candidates;
    int level;
    double begin, end;
} mc_stage;
enum { MC_STAGES_MOST = 8, MC_LEVELS = 3 };
int mc_search_stages(const mercer_search *s, bool halved, const mercer_data *data, mc_stage *out);
/* Candidates that go on to the next stage, of so many; those measured on a level, at most. */
int64_t mc_stage_survivors(int64_t count);
int64_t mc_level_candidates(int level);
/* Its rows, stratified by class, in order of time the last ones, and their groups where there are any. */
mercer_status mc_stage_rows(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, int64_t share,
                            int64_t all, mercer_data **out, const char ***groups);
/* A run with the kernel and the settings of its first candidate. Close it after a failure too. */
mercer_status mc_run_open(mercer_ctx *ctx, const mercer_search *s, int64_t begin, int64_t end, mc_run *out);
void mc_run_close(mc_run *run);

/* What some runs took: themselves, one with all its splits, all runs by them, and a fit of the best of their candidates
   to the same rows. */
typedef struct mc_trial_seconds {
    double spent, run, seconds, fit;
} mc_trial_seconds;
/* At most so many runs, spread evenly over all of them, on one of so many equal parts of the rows. Scores are not kept.
   */
mercer_status mc_search_try(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data,
                            int64_t parts, int64_t most, mc_trial_seconds *out);

/* mercer_plan_tune without the beginning of a call: the settings are whole, and time limits are off; fit: whether the
   fit of the best to all rows is counted. */
mercer_status mc_plan_search(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_tune *set, const mercer_data *data, bool fit, mercer_tune_plan *out);

/* ---- Down the slopes ---- */

/* Measures candidate c on the way from a start; tail: the slopes of the round. */
typedef mercer_status mc_visit(mercer_ctx *ctx, void *arg, int64_t c, int64_t start, double *tail);
/* From every candidate of the space; those on the way take their place. */
mercer_status mc_search_by_gradient(mercer_ctx *ctx, mercer_search *s, mc_visit *visit, void *arg);

/* What is needed of a round with these rows. */
mercer_status mc_round_open(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data,
                            const char *const *groups, mc_round *out);

#endif
