/* svm_command.c: options of LIBSVM's svm-train and the ends that its commands come to. */
#include "libsvm/command/svm_command.h"
#include "base/cpu.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void svm_command_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

int svm_command_whole(const char *text) {
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < INT_MIN || value > INT_MAX)
        svm_command_fail("error converting %s to int", text);
    return (int)value;
}

double svm_command_real(const char *text) {
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end)
        svm_command_fail("error converting %s to float", text);
    return value;
}

void svm_say_nothing(const char *text) {
    (void)text;
}

void svm_command_start(char **argv) {
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : mc_blas_better_core();
    if (core && setenv("OPENBLAS_CORETYPE", core, 0) == 0)
        execv("/proc/self/exe", argv);
}

/* ---- Training ---- */

svm_training svm_training_defaults(void) {
    return (svm_training){.param = {.svm_type = SVM_C_SVC,
                                    .kernel_type = SVM_RBF,
                                    .degree = 3,
                                    .cache_size = 100,
                                    .eps = 1e-3,
                                    .C = 1,
                                    .nu = 0.5,
                                    .p = 0.1,
                                    .shrinking = 1}};
}

void svm_training_usage(FILE *out) {
    fputs("options:\n"
          "-s svm_type : the machine (default 0)\n"
          "\t0 -- C-SVC (classes)\n"
          "\t1 -- nu-SVC (classes)\n"
          "\t2 -- one-class\n"
          "\t3 -- epsilon-SVR (numbers)\n"
          "\t4 -- nu-SVR (numbers)\n"
          "-t kernel_type : the kernel of rows u and v (default 2)\n"
          "\t0 -- linear: u'*v\n"
          "\t1 -- polynomial: (gamma*u'*v + coef0)^degree\n"
          "\t2 -- radial basis function: exp(-gamma*|u-v|^2)\n"
          "\t3 -- sigmoid: tanh(gamma*u'*v + coef0)\n"
          "\t4 -- precomputed: its values are in the file\n"
          "-d degree : of the polynomial (default 3)\n"
          "-g gamma : of the kernel (default 1/largest index)\n"
          "-r coef0 : of the kernel (default 0)\n"
          "-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)\n"
          "-n nu : of nu-SVC, one-class and nu-SVR (default 0.5)\n"
          "-p epsilon : half-width of the tube of epsilon-SVR (default 0.1)\n"
          "-m cachesize : must be above 0; Mercer sizes its own memory (default 100)\n"
          "-e epsilon : largest violation of the optimality conditions (default 0.001)\n"
          "-h shrinking : 0 or 1; the answer is the same (default 1)\n"
          "-b probability_estimates : 1: train for probabilities too (default 0)\n"
          "-wi weight : C of class i is weight*C, for C-SVC (default 1)\n"
          "-v n : n-fold cross-validation instead of a model\n"
          "-q : quiet\n",
          out);
}

static void add_weight(struct svm_parameter *p, int label, double weight) {
    const size_t count = (size_t)p->nr_weight + 1;
    int *labels = realloc(p->weight_label, count * sizeof *labels);
    p->weight_label = labels ? labels : p->weight_label;
    double *weights = realloc(p->weight, count * sizeof *weights);
    p->weight = weights ? weights : p->weight;
    if (!labels || !weights)
        svm_command_fail("can't allocate enough memory");
    p->weight_label[p->nr_weight] = label;
    p->weight[p->nr_weight++] = weight;
}

typedef struct option_place {
    char letter;
    size_t offset;
} option_place;

/* Whether the letter is one of a field, which is then written. */
static bool set_field(struct svm_parameter *p, char letter, const char *value) {
    static const option_place whole[] = {{'s', offsetof(struct svm_parameter, svm_type)},
                                         {'t', offsetof(struct svm_parameter, kernel_type)},
                                         {'d', offsetof(struct svm_parameter, degree)},
                                         {'h', offsetof(struct svm_parameter, shrinking)},
                                         {'b', offsetof(struct svm_parameter, probability)}};
    static const option_place real[] = {
        {'g', offsetof(struct svm_parameter, gamma)}, {'r', offsetof(struct svm_parameter, coef0)},
        {'n', offsetof(struct svm_parameter, nu)},    {'m', offsetof(struct svm_parameter, cache_size)},
        {'c', offsetof(struct svm_parameter, C)},     {'e', offsetof(struct svm_parameter, eps)},
        {'p', offsetof(struct svm_parameter, p)}};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        if (whole[k].letter == letter) {
            *(int *)((char *)p + whole[k].offset) = svm_command_whole(value);
            return true;
        }
    for (size_t k = 0; k < sizeof real / sizeof *real; k++)
        if (real[k].letter == letter) {
            *(double *)((char *)p + real[k].offset) = svm_command_real(value);
            return true;
        }
    return false;
}

int svm_training_option(svm_training *t, int argc, char **argv) {
    const char letter = argv[0][1];
    if (letter == 'q') {
        t->quiet = true;
        return 1;
    }
    if (argc < 2)
        return 0;
    if (letter == 'w') {
        add_weight(&t->param, svm_command_whole(argv[0] + 2), svm_command_real(argv[1]));
        return 2;
    }
    if (letter == 'v') {
        t->folds = svm_command_whole(argv[1]);
        if (t->folds < 2)
            fprintf(stderr, "n-fold cross validation: n must >= 2\n");
        return t->folds < 2 ? 0 : 2;
    }
    if (set_field(&t->param, letter, argv[1]))
        return 2;
    fprintf(stderr, "Unknown option: -%c\n", letter);
    return 0;
}

static void check_serials(const svm_text *text) {
    for (int i = 0; i < text->problem.l; i++) {
        const struct svm_node *first = text->problem.x[i];
        if (first->index != 0)
            svm_command_fail("Wrong input format: first column must be 0:sample_serial_number");
        if (!(first->value >= 1) || (int)first->value > text->most_index)
            svm_command_fail("Wrong input format: sample_serial_number out of range");
    }
}

void svm_training_check(svm_training *t, const svm_text *text) {
    if (t->param.gamma == 0 && text->most_index > 0)
        t->param.gamma = 1.0 / text->most_index;
    if (t->param.kernel_type == SVM_PRECOMPUTED)
        check_serials(text);
    const char *wrong = svm_check_parameter(&text->problem, &t->param);
    if (wrong)
        svm_command_fail("ERROR: %s", wrong);
}

void svm_training_free(svm_training *t) {
    svm_destroy_param(&t->param);
}
