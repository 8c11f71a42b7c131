/* svm_command.h: mercer-svm-train, -predict, -scale and -grid: LIBSVM's commands with LIBSVM's options, files and
   lines of output; what their files share. They end by exit: 1 where LIBSVM's do. */
#ifndef MC_LIBSVM_SVM_COMMAND_H
#define MC_LIBSVM_SVM_COMMAND_H

#include "libsvm/svm_abi.h"
#include <stdio.h>

/* A sentence on standard error, and the end. */
_Noreturn void svm_command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The whole text must be a number of the kind; otherwise the end. */
int svm_command_whole(const char *text);
double svm_command_real(const char *text);

/* A file of lines "label index:value ...". */
typedef struct svm_text {
    struct svm_problem problem;
    struct svm_node *nodes;
    int most_index; /* 0 without any; of what is listed, zeros too */
    int64_t listed; /* pairs */
} svm_text;
/* wrong: what is said of a line that is none, with its number where it has a %d. */
svm_text svm_text_read(const char *path, const char *cannot_open, const char *wrong);
void svm_text_free(svm_text *text);

/* Options of svm-train, each with the word after it where it has one. */
typedef struct svm_training {
    struct svm_parameter param;
    int folds; /* 0: no cross-validation */
    bool quiet;
} svm_training;
svm_training svm_training_defaults(void);
/* The words that the option at argv[0] takes up; 0: it is none. */
int svm_training_option(svm_training *t, int argc, char **argv);
/* gamma, where it was left open, and what is checked of a problem; the end where it is wrong. */
void svm_training_check(svm_training *t, const svm_text *text);
void svm_training_free(svm_training *t);
void svm_training_usage(FILE *out);
void svm_say_nothing(const char *text);

/* OPENBLAS_CORETYPE as the command mercer sets it: the program starts itself again. */
void svm_command_start(char **argv);

#endif
