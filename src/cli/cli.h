/* cli.h: what the files of the command share. One file per verb; each verb is a row of the table in main.c: its
   operands, its options and the function that runs it. Everything is done through mercer.h.

   main.c           the table of verbs, help and version, the life of one run
   args.c           options and operands, by the tables of the verb and the settings rows of the machines
   help.c           help texts, made from the same tables; complete.c: completion for shells and the manual page
   started_ranks.c  the command as one of several processes
   session.c        the context, Ctrl-C, the time limit, the progress bar, failures and exit statuses
   trace.c          the steps of a fit as a file
   say.c            results for people; json_output.c: results for programs
   input_file.c     kernels, data files and model files, as several verbs read them
   report_fields.c  rows and JSON that several verbs print
   job.c            what fit and plan share: machine, settings, kernel and data from the options
   folding.c        which rows leave together in cross-validation
   tune_verb.h      what tune and plan share of a search */
#ifndef MC_CLI_CLI_H
#define MC_CLI_CLI_H

#include <jansson.h>
#include <mercer.h>
#include <stdio.h>

/* Exit statuses, part of the interface. A function that returns int returns one of these, having printed what went
 * wrong. */
enum {
    EXIT_DONE = 0,
    EXIT_NEGATIVE = 1, /* refuted, not positive semidefinite */
    EXIT_BAD = 2,      /* bad usage or bad input */
    EXIT_OPEN = 3,     /* neither proved nor refuted */
    EXIT_STOPPED = 4,  /* Ctrl-C or the time limit */
    EXIT_MEMORY = 5,
    EXIT_NUMERIC = 6
};

/* Early return where there is nothing to undo yet. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const int try_ = (call);                                                                                       \
        if (try_ != EXIT_DONE)                                                                                         \
            return try_;                                                                                               \
    } while (0)
/* The next step, where there is something to undo: taken unless one before it has failed. */
#define THEN(code, call)                                                                                               \
    do {                                                                                                               \
        if ((code) == EXIT_DONE)                                                                                       \
            (code) = (call);                                                                                           \
    } while (0)

/* ---- Options (args.c) ---- */

typedef struct session session;
typedef struct trace trace; /* trace.h */

/* A short text by value: text_size(n).bytes stands in an argument list without a buffer beside it. */
typedef struct text {
    char bytes[32];
} text;

/* One row drives parsing, help and suggestions. */
typedef struct option {
    const char *name;     /* without dashes; NULL closes a table */
    char letter;          /* 0: no short form */
    const char *argument; /* what help calls the value; NULL: a flag */
    const char *help;
} option;

typedef struct verb {
    const char *name, *summary;
    const char *usage;       /* what follows the name on a usage line */
    const char *notes;       /* more words and examples for `mercer help NAME` */
    int least, most;         /* operands */
    const option *tables[9]; /* closed by NULL */
    bool machine;            /* takes the settings of the machines as options */
    bool renews;             /* may write its first operand anew, in one piece */
    bool computes;           /* runs parallel work: see set_environment in main.c */
    int (*run)(session *s);
} verb;

/* An option as it was given. */
typedef struct given {
    const char *name, *text; /* text "yes" or "no" for a flag */
    bool setting;            /* a machine's, not the verb's own */
} given;

typedef struct args {
    const verb *verb;
    const char *operand[3];
    int operands;
    given *given;
    int count;
    bool help;
} args;

/* argv are the words after the verb. Free with args_close, after a failure too. */
int args_parse(const verb *v, int argc, char *const *argv, args *out);
void args_close(args *a);
const char *args_text(const args *a, const char *name); /* NULL when not given */
/* The next of an option that may be given more than once, from place *from on; NULL: no more. */
const char *args_next(const args *a, const char *name, int *from);
bool args_flag(const args *a, const char *name);
/* A settings row's name as an option is written, with dashes. */
text option_text(const char *name);
/* The row of a setting by its option name ("allow-indefinite"); NULL when the machine has none. */
const mercer_setting *setting_find(const mercer_machine *machine, const char *name);
/* The value after "name=" in the settings of a model; false when there is none. */
bool setting_value(const char *settings, const char *name, char *value, size_t size);
bool setting_is_default(const mercer_setting *row, const char *value);
/* Numbers of options: what is wrong is said with the option's name. */
int args_whole(const args *a, const char *name, int64_t low, int64_t high, int64_t *value);
int args_real(const args *a, const char *name, double low, double high, double *value);
int args_bytes(const args *a, const char *name, size_t *value);
/* The place of the option's text in "a|b|c"; value stays when the option was not given. */
int args_choice(const args *a, const char *name, const char *choices, int *value);

/* ---- Help (help.c) ---- */

/* A command to run next (advice.c): the verb with this run's first operand and the options given to it that the verb
   takes as well, without those in except (closed by NULL); machine: named where the user has not; NULL: not. Then
   further words. */
typedef struct advice {
    char bytes[8192];
    size_t length;
} advice;
advice advise_command(const session *s, const verb *v, const mercer_machine *machine, const char *const *except);
void advice_add(advice *a, const char *word);
/* "mercer predict MODEL NEW_DATA": rest as it stands */
advice advise_file(const char *verb_name, const char *file, const char *rest);

void help_overview(FILE *out, const verb *const *verbs, int count);
void help_verb(FILE *out, const verb *v);
/* what: --man, or --completion with a shell (complete.c). */
int help_for_programs(FILE *out, const char *what, const char *shell, const verb *const *verbs, int count);

/* ---- One run (session.c) ---- */

struct session {
    args args;
    text kept[3];    /* names of operands that are kept (same_file.c) */
    int undelivered; /* why the result could not be printed: the exit status then; 0: it was, or is to be */
    mercer_ctx *ctx;
    FILE *out; /* where the report for people goes: standard error when standard output carries a file */
    bool json, quiet;
    double began;      /* clock at the start */
    double time_limit; /* seconds for the whole run; 0: none */
    const char *phase; /* of the progress bar: its name, when it began, the share done then and last */
    double phase_began, phase_from, phase_done;
    bool expired;    /* the time limit was reached */
    bool plans;      /* the time limit is that of a fit to come: nothing is stopped by it */
    double ends;     /* the clock at which what finishes a stopped result is stopped too; 0: nothing was stopped */
    bool bar;        /* a progress bar may be drawn */
    bool drawn;      /* one stands on the terminal now */
    double bar_next; /* when it may be drawn again */
    trace *trace;    /* takes the steps of a fit down; NULL: nobody asked */
    bool describes;  /* a file is only described: what is missing in it is counted, not refused */
};

/* Opens the context with the options given. On failure the session is closed all the same with session_close. */
int session_open(session *s);
void session_close(session *s);

/* As one of several processes (started_ranks.c). Before anything is printed: all but the first are
   silent; and at the very end. */
void ranks_hush(int argc, char **argv);
void ranks_depart(int code);
int ranks_options(const session *s, mercer_options *options);
/* Whether there are as many as were started. */
int ranks_check(const session *s);
/* How all of them have fared, this one as code says; the first says what went wrong on another. */
int ranks_finish(session *s, int code);
double clock_now(void);
/* Print the context's message and return the exit status that belongs to the failure. */
int session_fail(session *s, mercer_status status);
/* The same for a kernel expression: shows the place under the text. */
int session_fail_at(session *s, mercer_status status, const char *expression);
/* EXIT_STOPPED with a message when Ctrl-C or the time limit asks to end: looked at before a result is written. */
int session_alive(session *s);
/* Leaves a share of the time that is left of the whole run to the next call of the library, which then knows how long
   it has and hands over its best. Nothing without a time limit. */
void session_share(session *s, double share);
/* The same for what hands a result over: a second more than is left. */
void session_finish(session *s);
enum { SESSION_GRACE = 5 };      /* seconds */
void session_resume(session *s); /* the work was stopped; what finishes its result has the grace yet */
void session_wipe(session *s);   /* takes the progress bar off the terminal */
/* Memory of the command's own (results it holds), under the same limit; NULL with a message. free() it. */
void *session_take(session *s, int64_t rows, int64_t columns, size_t size);

/* Status of a library call -> exit status, with its message printed. */
#define TRY_CTX(s, call)                                                                                               \
    do {                                                                                                               \
        const mercer_status try_ = (call);                                                                             \
        if (try_ != MERCER_OK)                                                                                         \
            return session_fail((s), try_);                                                                            \
    } while (0)

/* ---- Results (say.c, json_output.c) ---- */

/* One sentence to standard error, after "mercer: "; returns EXIT_BAD. */
int print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A remark to standard error unless -q. */
void print_note(const session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One line of a report: a label and a fact. Nothing under --json or -q. */
void say_fact(session *s, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Whole report texts that are not rows. */
void say_text(session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_lines(session *s, const char *lines); /* as they stand, but for controls */
/* shown.c: bytes with every control written out, \x1b, but for those of keep; legible UTF-8 stays. */
void show_bytes(FILE *out, const char *bytes, size_t size, const char *keep);
/* A whole text to a file, or to standard output: as it is, unless that is a terminal. */
int write_text(session *s, const char *path, const char *bytes, size_t size);
/* The same of what write prints: made whole first, so that a file is written whole or not at all. */
typedef void text_writer(FILE *out, const void *arg);
int write_stream(session *s, const char *path, text_writer *write, const void *arg);
bool prints_report(const session *s); /* whether say prints at all */

text text_size(size_t bytes);                      /* "12.4 MiB" */
text text_seconds(double s);                       /* "31 ms", "2 min 05 s" */
text text_count(int64_t count, const char *thing); /* "1 row", "2 rows" */
text text_value(double value);                     /* four digits, for people */
int64_t index_of_largest(const double *values,
                         int64_t count); /* the place of the first of the largest: the class that wins */

/* The object is printed by the verb that made it, as its last act, and freed. */
int json_finish(session *s, json_t *object);
json_t *json_value(double value);    /* NaN and infinities, which JSON has not, become null */
json_t *json_text(const char *utf8); /* bytes that are not UTF-8 become U+FFFD; NULL becomes null */
json_t *json_values(const double *values, int64_t count);
void json_put(json_t *object, const char *key, json_t *value);
double json_number_in(const json_t *object, const char *key); /* NaN where it is none */
void json_print(FILE *out, const json_t *value);

/* report_fields.c: a report for people from the object that --json prints. A table of rows ends with one that has no
   format. */
typedef struct report_row {
    const char *label, *when, *format;
} report_row;
void say_fields(session *s, const json_t *object, const report_row *rows);
/* How a model came about in stages (stages_report.c), with the command for the exact machine, NULL: not told; NULL for
   one fitted in one go. */
json_t *json_stages(const mercer_model *model, const char *command);
void say_stages(session *s, const json_t *stages);
/* The same in a line of its own, with commas between; nothing where no row is to be said. */
void say_list(session *s, const char *label, const json_t *object, const report_row *rows);
/* Either way, as the verb's last act. */
int report_fields(session *s, json_t *object, const report_row *rows);
/* The same for a list of objects, as a table: columns under their titles, format as in a sentence; a field that is not
   known is nan. note: behind the last. The list of columns ends with one that has no key. */
typedef struct report_column {
    const char *key, *title;
    int width;
    const char *format;
} report_column;
void say_titles(session *s, const report_column *columns);
void say_row(session *s, const json_t *row, const report_column *columns, const char *note);

/* class_scores.c: classes, confusion and unknown of the object, from what mercer_score_classes counts; what people see
   of them. */
void json_put_class_scores(json_t *object, const mercer_model *model, const double *confusion);
int say_class_scores(session *s, const json_t *object);
void say_confusion(session *s, const json_t *object);

/* ---- Input (input_file.c, job.c) ---- */

extern const option common_options[];  /* every verb: json, quiet, memory, threads, time limit, help */
extern const option seed_options[];    /* verbs that draw random numbers */
extern const option data_options[];    /* how a data file is read */
extern const option missing_options[]; /* the one choice left when a model says how a file is read */

int input_kernel(session *s, const char *expression, mercer_kernel **out);
/* kernel: what the data are read for; NULL: nothing yet. weights: the column of row weights; NULL: none. wanted: what
   the target is taken for where the options do not say. */
/* For fits: where no kernel is named columns of free text are kept as texts. */
int input_data_for_fit(session *s, const mercer_kernel *kernel, const char *path, const char *weights,
                       mercer_target wanted, mercer_data **out);
int input_data(session *s, const mercer_kernel *kernel, const char *path, const char *weights, mercer_target wanted,
               mercer_data **out);
int input_model(session *s, const char *path, mercer_model **out);
/* A file read as the model's training file was; wanted: MERCER_TARGET_NUMBER to score one-class by, NONE where nothing
   is compared with the target, otherwise AUTO. */
int input_data_for(session *s, const mercer_model *model, const char *path, mercer_target wanted, mercer_data **out);
/* same_file.c: no output is a file that is read, under any name (run before a verb is); for a verb that looks at an
   operand and then reads it: a pipe, a device or standard input is kept in a file without a name, which then is the
   operand. */
int files_check(const args *a);
int files_keep(session *s, int operand);
bool is_plain_file(const char *path); /* one that can be looked at and read again */
/* By its first bytes: a model file starts with the length of a JSON header, then the header; one of LIBSVM with its
   type. */
bool is_model(const char *path);
/* Refuses to replace a file that is not what is to be written, and a folder that cannot be written to, before the work
   starts. */
int check_output(const char *path, const char *what, bool (*is)(const char *path), const char *by);
int check_model_path(const char *path);
/* Where the model goes: -o, or the data file's name with .mercer; a model on standard output sends the report
   elsewhere. */
int choose_model_path(session *s, char *path, size_t size);

/* Rows of a report that several verbs print. */
void say_data(session *s, const char *path, const mercer_data *data);
void say_kernel(session *s, const mercer_kernel *kernel, const char *remark);
void say_model(session *s, const char *path, const mercer_model *model); /* all that show prints of a model */
/* columns with their ranges, target or classes */
int say_table(session *s, const mercer_data *data);
void say_scores(session *s, const mercer_model *model, const mercer_scores *scores);
/* What the largest of the bounds of some rows says, or why there is none. */
typedef struct text_line {
    char bytes[160];
} text_line;
text_line text_prediction_bound(const mercer_model *model, double bound);
text text_penalty(const mercer_report *report); /* "lambda 0.1", "noise variance 0.01", "step 0.2": what regularises */
void say_report(session *s, const json_t *report); /* of json_report: all that a machine has to say of its fit */
void say_certificate(session *s, const json_t *report);
json_t *json_report(const mercer_model *model);
/* What the decisions of a model are called: "ash_elm" of a pair, "ash" against the rest, the name of a target. */
typedef struct decision_name {
    char bytes[600];
} decision_name;
decision_name name_decision(const mercer_model *model, int64_t k);
/* A field of CSV, prefix and text as one, quoted where it must be. */
void csv_field(FILE *out, const char *prefix, const char *field);
int show_rows(session *s); /* show_rows.c: of a support vector machine */
int show_data(session *s); /* show_data.c: of a table */
enum { NAMED_COLUMNS_MOST = 1 << 16 }; /* beyond it columns of LIBSVM text have no names */
/* The name of a column; of many that have none, its number. */
const char *show_column_text(const char *name, int64_t column, int64_t columns, text *buffer);

/* ---- What fit and plan share (job.c) ---- */

typedef struct job {
    const char *path, *expression;
    const mercer_machine *machine;
    const char *chosen; /* why this machine, when the command chose it; NULL when the user did */
    char why[128];      /* room for it */
    void *settings;
    mercer_kernel *kernel;
    mercer_data *data;
    double read_seconds;
    char *landmarks;            /* read from a file, as a list */
    bool searches;              /* settings may be ranges, and there may be several kernels: tune reads them */
    const mercer_kernel *reads; /* then: the kernel that says how the data are read; NULL: none */
    char **range;               /* "C=0.1..1000", closed by NULL */
    int ranges;
} job;
int job_open(session *s, job *j);
void job_close(job *j);
extern const option job_options[];
/* The machine must be ridge, and of its settings only these (closed by NULL) may be given. */
int job_check_ridge(const session *s, const job *j, const char *const *known);
/* Whether nothing is said of what a short search would choose; and what goes with such a search: a target far from zero
   is no matter of the kernel, so that a machine gets an intercept unless something is said about it (false: its own
   default again). */
bool job_is_open(const session *s);
int job_put_intercept(session *s, job *j, bool search);
/* Whether a fit to all rows is possible under the memory limit, with the default kernel. */
bool job_has_memory(session *s, const job *j);
bool job_flag(const job *j, const char *name); /* the value of a machine's flag; false when it has none */

/* ---- Rows that leave together (folding.c) ---- */

typedef struct folding {
    bool asked;         /* --folds or --groups was given */
    int64_t k;          /* --folds; 0: not given */
    const char *groups; /* the column; NULL: not given */
    int64_t *fold;      /* of every row, from 0 */
    int64_t count;
} folding;
extern const option fold_options[];
int folding_read(session *s, folding *f);
/* Which text of the data is this column; the only one, where columns have no names. */
int64_t groups_text(const mercer_data *data, const char *name);
int folding_make(session *s, const mercer_data *data, folding *f);
void folding_close(folding *f);

/* ---- Verbs ---- */

extern const verb verb_fit, verb_predict, verb_score, verb_prove, verb_gram, verb_path, verb_plan, verb_show,
    verb_export, verb_generate, verb_info, verb_update, verb_folds, verb_plot, verb_report, verb_tune, verb_test,
    verb_cluster;

#endif
