/* svm_predict_command.c: mercer-svm-predict. Rows go through Mercer's model many at a time; those of a precomputed
   kernel, which are kernel values already, one by one. */
#include "libsvm/command/svm_command.h"
#include "libsvm/model_file.h"
#include "libsvm/probability.h"
#include "predict/fitted.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 4096 };

static _Noreturn void print_usage(void) {
    fputs("Usage: mercer-svm-predict [options] test_file model_file output_file\n"
          "options:\n"
          "-b probability_estimates : 1: predict probabilities too (default 0); one-class has none\n"
          "-q : quiet\n",
          stdout);
    exit(EXIT_FAILURE);
}

typedef struct predicted_file {
    mercer_ctx *ctx;
    struct svm_model *model;
    mercer_model *batch;
    bool probability, quiet;
    int64_t pairs;
    double *decision; /* of the rows at once */
    double *room, *estimate;
    FILE *out;
    /* sums over the rows */
    int right, total;
    double error, p, y, pp, yy, py;
} predicted_file;

static void require_block(const void *block) {
    if (!block)
        svm_command_fail("can't allocate enough memory");
}

static bool is_regression(const predicted_file *s) {
    return s->model->param.svm_type == SVM_EPSILON_SVR || s->model->param.svm_type == SVM_NU_SVR;
}

/* What is said before the rows. */
static void begin_output(const predicted_file *s) {
    const struct svm_model *m = s->model;
    if (!s->probability && svm_check_probability_model(m) && !s->quiet)
        printf("Model supports probability estimates, but disabled in prediction.\n");
    if (!s->probability)
        return;
    if (is_regression(s)) {
        if (!s->quiet)
            printf("Prob. model for test data: target value = predicted value + z,\n"
                   "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g\n",
                   svm_get_svr_probability(m));
        return;
    }
    fprintf(s->out, "labels");
    for (int c = 0; c < m->nr_class; c++)
        fprintf(s->out, " %d", m->label[c]);
    fprintf(s->out, "\n");
}

static double predicted_value(const predicted_file *s, const double *decision) {
    const struct svm_model *m = s->model;
    if (!mc_svm_type_has_classes(m->param.svm_type))
        return m->param.svm_type != SVM_ONE_CLASS ? decision[0] : decision[0] > 0 ? 1 : -1;
    if (!s->probability)
        return m->label[mc_pair_winner(m->nr_class, decision)];
    return m->label[mc_probable_class(m->nr_class, m->probA, m->probB, decision, s->room, s->estimate)];
}

static void print_row(const predicted_file *s, double answer) {
    if (!s->probability || is_regression(s)) {
        fprintf(s->out, "%.17g\n", answer);
        return;
    }
    fprintf(s->out, "%g", answer);
    for (int c = 0; c < s->model->nr_class; c++)
        fprintf(s->out, " %g", s->estimate[c]);
    fprintf(s->out, "\n");
}

static void count_row(predicted_file *s, double answer, double y) {
    s->right += answer == y;
    s->total++;
    s->error += (answer - y) * (answer - y);
    s->p += answer;
    s->y += y;
    s->pp += answer * answer;
    s->yy += y * y;
    s->py += answer * y;
}

/* With index k in column k, as the batch model has it. */
static mercer_status decide_rows(predicted_file *s, const struct svm_problem *rows, int64_t columns) {
    const mc_node_shape shape = {.first = 0, .d = columns};
    mercer_data *data = NULL;
    mercer_status status = mc_node_questions(s->ctx, &shape, rows, rows, &data);
    if (!status)
        status = mercer_decide(s->ctx, s->batch, data, s->decision);
    mercer_data_free(data);
    return status;
}

/* Where there is nothing to gain, nor a model of Mercer's, each by itself. */
static void decide_each(predicted_file *s, const struct svm_problem *rows) {
    for (int i = 0; i < rows->l; i++)
        svm_predict_values(s->model, rows->x[i], s->decision + i * s->pairs);
}

static void predict_rows(predicted_file *s, const struct svm_problem *all, int begin, int64_t columns) {
    const int left = all->l - begin;
    const struct svm_problem rows = {left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, all->y + begin, all->x + begin};
    const bool each = s->model->param.kernel_type == SVM_PRECOMPUTED || s->model->l == 0;
    if (each || decide_rows(s, &rows, columns) != MERCER_OK)
        decide_each(s, &rows);
    for (int i = 0; i < rows.l; i++) {
        const double answer = predicted_value(s, s->decision + i * s->pairs);
        print_row(s, answer);
        count_row(s, answer, rows.y[i]);
    }
}

static void print_summary(const predicted_file *s) {
    const double l = s->total, r = l * s->py - s->p * s->y;
    if (s->quiet)
        return;
    if (!is_regression(s)) {
        printf("Accuracy = %g%% (%d/%d) (classification)\n", 100.0 * s->right / s->total, s->right, s->total);
        return;
    }
    printf("Mean squared error = %g (regression)\n", s->error / l);
    printf("Squared correlation coefficient = %g (regression)\n",
           r * r / ((l * s->pp - s->p * s->p) * (l * s->yy - s->y * s->y)));
}

static void check_probability(const predicted_file *s) {
    if (s->probability && !svm_check_probability_model(s->model))
        svm_command_fail("Model does not support probabiliy estimates");
}

static void predict_file(predicted_file *s, const svm_text *text) {
    const int classes = s->model->nr_class;
    const int64_t own = mercer_model_columns(s->batch), most = (int64_t)text->most_index + 1;
    s->pairs = (int64_t)classes * (classes - 1) / 2;
    require_block(s->decision = calloc((size_t)(ROWS_AT_ONCE * s->pairs) + 1, sizeof *s->decision));
    require_block(s->room = calloc((size_t)mc_probability_room(classes) + 1, sizeof *s->room));
    require_block(s->estimate = calloc((size_t)classes + 1, sizeof *s->estimate));
    begin_output(s);
    for (int i = 0; i < text->problem.l; i += ROWS_AT_ONCE)
        predict_rows(s, &text->problem, i, most > own ? most : own);
    print_summary(s);
    free(s->decision);
    free(s->room);
    free(s->estimate);
}

static int read_options(int argc, char **argv, predicted_file *s) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++)
        if (argv[i][1] == 'q')
            s->quiet = true;
        else if (argv[i][1] == 'b' && i + 1 < argc)
            s->probability = svm_command_whole(argv[++i]);
        else {
            fprintf(stderr, "Unknown option: -%c\n", argv[i][1]);
            print_usage();
        }
    if (i + 2 >= argc)
        print_usage();
    return i;
}

int main(int argc, char **argv) {
    predicted_file s = {0};
    const int i = read_options(argc, argv, &s);
    svm_command_start(argv);
    if (mc_svm_open_context(&s.ctx))
        return EXIT_FAILURE;
    FILE *input = fopen(argv[i], "r");
    if (!input)
        svm_command_fail("can't open input file %s", argv[i]);
    fclose(input);
    if (!(s.out = fopen(argv[i + 2], "w")))
        svm_command_fail("can't open output file %s", argv[i + 2]);
    if (mc_svm_model_load(s.ctx, argv[i + 1], &s.model, &s.batch)) {
        mc_svm_report_failure(s.ctx, "mercer-svm-predict");
        svm_command_fail("can't open model file %s", argv[i + 1]);
    }
    check_probability(&s);
    svm_text text = svm_text_read(argv[i], "can't open input file %s", "Wrong input format at line %d");
    predict_file(&s, &text);
    svm_text_free(&text);
    svm_free_and_destroy_model(&s.model);
    mercer_model_free(s.batch);
    mercer_close(s.ctx);
    if (fclose(s.out) != 0)
        svm_command_fail("can't write output file %s", argv[i + 2]);
    return EXIT_SUCCESS;
}
