/* svm_train_command.c: mercer-svm-train. */
#include "libsvm/command/svm_command.h"
#include <stdlib.h>
#include <string.h>

static _Noreturn void print_usage(void) {
    fputs("Usage: mercer-svm-train [options] training_set_file [model_file]\n", stdout);
    svm_training_usage(stdout);
    exit(EXIT_FAILURE);
}

static void print_errors(const struct svm_problem *p, const double *target) {
    double error = 0, v = 0, y = 0, vv = 0, yy = 0, vy = 0;
    const double l = p->l;
    for (int i = 0; i < p->l; i++) {
        error += (target[i] - p->y[i]) * (target[i] - p->y[i]);
        v += target[i];
        y += p->y[i];
        vv += target[i] * target[i];
        yy += p->y[i] * p->y[i];
        vy += target[i] * p->y[i];
    }
    const double r = l * vy - v * y;
    printf("Cross Validation Mean squared error = %g\n", error / l);
    printf("Cross Validation Squared correlation coefficient = %g\n", r * r / ((l * vv - v * v) * (l * yy - y * y)));
}

static void cross_validate(const svm_training *t, const struct svm_problem *p) {
    double *target = calloc((size_t)p->l + 1, sizeof *target);
    if (!target)
        svm_command_fail("can't allocate enough memory");
    svm_cross_validation(p, &t->param, t->folds, target);
    int right = 0;
    for (int i = 0; i < p->l; i++)
        right += target[i] == p->y[i];
    if (t->param.svm_type == SVM_EPSILON_SVR || t->param.svm_type == SVM_NU_SVR)
        print_errors(p, target);
    else
        printf("Cross Validation Accuracy = %g%%\n", 100.0 * right / p->l);
    free(target);
}

static void train_model(const svm_training *t, const struct svm_problem *p, const char *path) {
    struct svm_model *model = svm_train(p, &t->param);
    if (svm_save_model(path, model) != 0)
        svm_command_fail("can't save model to file %s", path);
    svm_free_and_destroy_model(&model);
}

/* The name of the data without its folder, and ".model". */
static char *default_name(const char *data) {
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data;
    char *made = malloc(strlen(name) + sizeof ".model");
    if (!made)
        svm_command_fail("can't allocate enough memory");
    strcpy(made, name);
    return strcat(made, ".model");
}

int main(int argc, char **argv) {
    svm_training t = svm_training_defaults();
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        const int taken = svm_training_option(&t, argc - i, argv + i);
        if (taken == 0)
            print_usage();
        i += taken;
    }
    if (i >= argc)
        print_usage();
    svm_command_start(argv);
    if (t.quiet)
        svm_set_print_string_function(svm_say_nothing);
    svm_text text = svm_text_read(argv[i], "can't open input file %s", "Wrong input format at line %d");
    svm_training_check(&t, &text);
    char *own = i + 1 < argc ? NULL : default_name(argv[i]);
    if (t.folds)
        cross_validate(&t, &text.problem);
    else
        train_model(&t, &text.problem, own ? own : argv[i + 1]);
    free(own);
    svm_text_free(&text);
    svm_training_free(&t);
    return EXIT_SUCCESS;
}
