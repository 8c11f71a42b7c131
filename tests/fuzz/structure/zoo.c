/* zoo.c: see zoo.h. A specimen is a row of a table: the machine, its data, kernel and settings. */
#include "zoo.h"
#include "../must.h"
#include "data/read/read.h"
#include "lines.h"
#include "model/libsvm/libsvm_model.h"
#include <math.h>
#include <string.h>

enum { ROWS = 11, COLUMNS = 3 };
typedef enum data_set {
    NUMBERS,
    TWO,
    PAIR,
    THREE,
    SPARSE,
    SPARSE_PAIR,
    SPARSE_THREE,
    SINGLE,
    TEXTS,
    TEXT_CLASSES,
    GIVEN,
    GIVEN_CLASSES,
    FILE_NUMBERS,
    FILE_CLASSES,
    FAR,
    FAR_THREE,
    SETS
} data_set;

static const struct {
    data_set set;
    const char *machine, *kernel, *settings;
} rows[] = {
    {NUMBERS, "ridge", "rbf(gamma=0.5)", "lambda=0.1 solver=cholesky intercept=yes"},
    {TWO, "ridge", "rbf(gamma=0.5) + linear", "lambda=0.1 solver=eigen"},
    {THREE, "ridge", "matern(nu=1.5, length_scale=1)", "lambda=0.1 solver=pcg scale=standard"},
    {SPARSE, "ridge", "poly(degree=2)", "lambda=0.1 solver=cholesky"},
    {SINGLE, "ridge", "laplacian(gamma=0.3)", "lambda=0.1 scale=minmax"},
    {NUMBERS, "ridge", "poly(degree=2, c=1)", "lambda=0.1 solver=primal scale=standard"},
    {PAIR, "ridge", "linear", "lambda=0.1 solver=primal"},
    {PAIR, "ridge", "rbf(gamma=0.5)", "lambda=0.1 solver=mixed"},
    {NUMBERS, "ridge", "rbf(gamma=0.5)", "lambda=0.1 solver=nystrom rank=4"},
    {TWO, "ridge", "rbf(gamma=0.5)", "lambda=0.1 solver=fourier rank=6"},
    {TEXTS, "ridge", "spectrum(p=2)", "lambda=0.1"},
    {GIVEN, "ridge", "precomputed", "lambda=0.1"},
    {FILE_NUMBERS, "ridge", "rbf(gamma=0.5)", "lambda=0.1 scale=standard"},
    {FILE_CLASSES, "ridge", "rbf(gamma=0.5)[1:2] + 0.5*linear", "lambda=0.1"},
    {NUMBERS, "gp", "rbf(gamma=0.5)", "noise=0.1 restarts=0"},
    {TWO, "gp", "matern(nu=2.5, length_scale=1) + white", "noise=0.1 restarts=0"},
    {SPARSE, "gp", "linear", "noise=0.5 restarts=0"},
    {PAIR, "svc", "rbf(gamma=0.5)", "C=1"},
    {THREE, "svc", "rbf(gamma=0.5)", "C=1 scale=standard"},
    {THREE, "svc", "linear", "C=1"},
    {THREE, "svc", "rbf(gamma=0.5)", "C=1 multiclass=ovr"},
    {PAIR, "svc", "linear", "C=0.1"},
    {SPARSE_THREE, "svc", "linear", "C=1"},
    {SPARSE_PAIR, "svc", "tanh(a=0.1, c=0)", "C=1 allow-indefinite=yes"},
    {TEXT_CLASSES, "svc", "normalize(spectrum(p=2))", "C=1"},
    {GIVEN_CLASSES, "svc", "precomputed", "C=1"},
    {FILE_CLASSES, "svc", "rbf(gamma=0.5)", "C=1 class-weight=balanced"},
    {PAIR, "nu-svc", "rbf(gamma=0.5)", "nu=0.3"},
    {THREE, "nu-svc", "poly(degree=3, c=1)", "nu=0.3"},
    {NUMBERS, "svr", "rbf(gamma=0.5)", "C=1 epsilon=0.1"},
    {TWO, "svr", "linear", "C=1 epsilon=0.1"},
    {NUMBERS, "svr", "rbf(gamma=0.5)", "C=1 epsilon=100"},
    {TEXTS, "svr", "spectrum(p=2)", "C=1 epsilon=100"},
    {SPARSE, "nu-svr", "rbf(gamma=0.5)", "C=1 nu=0.4"},
    {NUMBERS, "one-class", "rbf(gamma=0.5)", "nu=0.4"},
    {SPARSE, "one-class", "linear", "nu=0.4"},
    {NUMBERS, "lms", "rbf(gamma=0.5)", "solver=stored"},
    {PAIR, "lms", "poly(degree=2)", "solver=features"},
    {TWO, "lms", "rbf(gamma=0.5)", "solver=streamed mode=sample"},
    {NUMBERS, "lms", "linear", "solver=features mode=sample"},
    {NUMBERS, "lms", "rbf(gamma=0.5)", "solver=stored held-out=0.3"},
    {NUMBERS, "pca", "rbf(gamma=0.5)", "components=2"},
    {SPARSE, "pca", "linear", "components=2"},
    {THREE, "knn", "rbf(gamma=0.5)", "neighbors=2"},
    {NUMBERS, "knn", "linear", "neighbors=3 weighting=distance"},
    {TWO, "knn", "laplacian(gamma=1)", "neighbors=1"},
    {TEXT_CLASSES, "knn", "spectrum(p=2)", "neighbors=2"},
    {PAIR, "logistic", "rbf(gamma=0.5)", "lambda=0.1"},
    {THREE, "logistic", "rbf(gamma=0.5)", "lambda=0.1 scale=standard"},
    {FILE_CLASSES, "logistic", "linear", "lambda=0.1"},
    {PAIR, "squared-hinge", "linear", "lambda=0.1"},
    {THREE, "squared-hinge", "rbf(gamma=0.5)", "lambda=0.1 solver=pcg"},
    {TWO, "huber", "rbf(gamma=0.5)", "lambda=0.1"},
    {NUMBERS, "quantile", "rbf(gamma=0.5)", "lambda=0.1 tau=0.3"},
    {SPARSE, "absolute", "linear", "lambda=0.1"},
    {FAR, "ridge", "rbf(gamma=0.5)", "lambda=0.1 solver=cholesky"},
    {FAR, "ridge", "linear", "lambda=0.1 solver=primal"},
    {FAR_THREE, "svc", "rbf(gamma=0.5)[400000001] + linear", "C=1"},
    {FAR_THREE, "svc", "linear", "C=1"},
    {FAR_THREE, "logistic", "poly(degree=2)", "lambda=0.1"},
    {FAR_THREE, "knn", "rbf(gamma=0.5)", "neighbors=3"},
    {FAR, "pca", "linear", "components=2"},
};

mercer_ctx *zoo_context(void) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.memory_limit = (size_t)64 << 20;
    options.threads = 1;
    must(mercer_open(&options, &ctx) == MERCER_OK, "a context opens");
    return ctx;
}

/* ---- Data ---- */

static double value_at(int64_t i, int64_t j) {
    return sin(1.7 * (double)i + 2.3 * (double)j) + 0.1 * (double)(i % 3);
}

/* Serial numbers, then a Gram matrix. */
static void fill_given(double *x, mercer_table *t) {
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j <= ROWS; j++)
            x[i * (ROWS + 1) + j] = j == 0 ? (double)i + 1 : exp(-fabs(value_at(i, 0) - value_at(j - 1, 0)));
    t->d = ROWS + 1;
}

/* far: columns that are numbered to the end of what there is, of which few occur. */
static void fill_sparse(double *x, int64_t *start, int32_t *column, bool far, mercer_table *t) {
    int64_t stored = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        start[i] = stored;
        for (int32_t j = 0; j < 6; j++)
            if ((i * 7 + j * 3) % 4 == 0) {
                column[stored] = far ? j * 400000000 : j;
                x[stored++] = value_at(i, j);
            }
    }
    start[ROWS] = stored;
    t->d = far ? INT32_MAX : 6;
    t->row_start = start;
    t->column = column;
}

static mercer_data *made(mercer_ctx *ctx, data_set set) {
    static const char *const labels[] = {"a", "b", "c*/"}, *const words[] = {"abab", "baba", "aabb", "cab", "bc"};
    const bool far = set == FAR || set == FAR_THREE,
               sparse = set == SPARSE || set == SPARSE_PAIR || set == SPARSE_THREE || far,
               texts = set == TEXTS || set == TEXT_CLASSES;
    const bool pair = set == PAIR || set == SPARSE_PAIR || set == TEXT_CLASSES || set == GIVEN_CLASSES;
    const bool three = set == THREE || set == SPARSE_THREE || set == FAR_THREE;
    double x[ROWS * (ROWS + 1)] = {0}, y[2 * ROWS];
    float single[ROWS * COLUMNS];
    int64_t start[ROWS + 1];
    int32_t column[ROWS * 6];
    const char *label[ROWS], *text[ROWS];
    mercer_table t = {.size = sizeof t,
                      .n = ROWS,
                      .d = texts ? 0 : COLUMNS,
                      .dtype = set == SINGLE ? MERCER_F32 : MERCER_F64,
                      .values = x};
    for (int64_t i = 0; i < ROWS; i++) {
        label[i] = labels[i % (pair ? 2 : 3)];
        text[i] = words[i % 5];
        y[2 * i] = value_at(i, 5);
        y[2 * i + 1] = value_at(i, 6);
        for (int64_t j = 0; j < COLUMNS; j++)
            single[i * COLUMNS + j] = (float)(x[i * COLUMNS + j] = value_at(i, j));
    }
    if (set == SINGLE)
        t.values = single;
    if (set == GIVEN || set == GIVEN_CLASSES)
        fill_given(x, &t);
    if (sparse)
        fill_sparse(x, start, column, far, &t);
    if (texts) {
        t.text = text;
        t.texts = 1;
    }
    if (pair || three)
        t.labels = label;
    else {
        t.target = y;
        t.outputs = set == TWO ? 2 : 1;
    }
    mercer_data *data = NULL;
    must(mercer_data_make(ctx, &t, &data) == MERCER_OK, mercer_message(ctx));
    return data;
}

const char *zoo_file(int set) {
    return set == FILE_CLASSES ? "age,kind,class\n1,oak,no\n2,fir,yes\n3,oak,no\n4,\"a,b\",yes\n5,fir,no\n6,oak,maybe\n"
                               : "age,kind,y\n1,oak,2.5\n2,fir,1.5\n3,oak,3.5\n4,\"a,b\",0.5\n5,fir,2.25\n6,oak,1\n";
}

/* Read from text, so that the model keeps names, levels and a schema. */
static mercer_data *parsed(mercer_ctx *ctx, data_set set) {
    const char *text = zoo_file((int)set);
    mercer_read how = mercer_read_defaults();
    mercer_data *data = NULL;
    how.kind = set == FILE_CLASSES ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER;
    must(mc_data_parse(ctx, text, (int64_t)strlen(text), "trees.csv", &how, &data) == MERCER_OK, mercer_message(ctx));
    return data;
}

mercer_data *zoo_data(mercer_ctx *ctx, int set) {
    return set == FILE_NUMBERS || set == FILE_CLASSES ? parsed(ctx, (data_set)set) : made(ctx, (data_set)set);
}

/* ---- Models ---- */

/* The words are cut out of the text, which the settings then point into. */
static void put_settings(mercer_ctx *ctx, char *settings, char *text) {
    char *rest = text;
    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        must(value, "a setting has a value");
        *value = '\0';
        must(mercer_settings_put(ctx, settings, word, value + 1) == MERCER_OK, mercer_message(ctx));
    }
}

static void keep(mercer_ctx *ctx, zoo *z, const mercer_model *model, const char *name, int set) {
    specimen *one = &z->one[z->count++];
    must(z->count <= ZOO_MOST, "there is room");
    snprintf(one->name, sizeof one->name, "%s", name);
    one->set = set;
    must(mercer_model_to_memory(ctx, model, NULL, 0, &one->size) == MERCER_OK, mercer_message(ctx));
    one->bytes = malloc(one->size);
    must(one->bytes && mercer_model_to_memory(ctx, model, one->bytes, one->size, &one->size) == MERCER_OK,
         "a model becomes bytes");
}

static void add_update(mercer_ctx *ctx, zoo *z, const mercer_model *model, const mercer_data *data, const char *name,
                       int set) {
    mercer_update how = mercer_update_defaults();
    mercer_model *next = NULL;
    char longer[160];
    how.step = 0.01;
    if (mercer_model_update(ctx, model, data, &how, &next))
        return; /* of this machine, solver or data there is no update */
    snprintf(longer, sizeof longer, "%.140s, updated", name);
    keep(ctx, z, next, longer, set);
    mercer_model_free(next);
}

static void add_fit(mercer_ctx *ctx, zoo *z, size_t k) {
    const mercer_machine *machine = mercer_machine_find(rows[k].machine);
    char *settings = calloc(1, machine->size), name[160], words[128];
    mercer_data *data = zoo_data(ctx, (int)rows[k].set);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    must(mercer_settings_init(ctx, machine->name, settings, machine->size) == MERCER_OK, mercer_message(ctx));
    snprintf(words, sizeof words, "%s", rows[k].settings);
    put_settings(ctx, settings, words);
    snprintf(name, sizeof name, "%s %s, %s, data %d", rows[k].machine, rows[k].kernel, rows[k].settings,
             (int)rows[k].set);
    must(mercer_kernel_parse(ctx, rows[k].kernel, &kernel) == MERCER_OK, mercer_message(ctx));
    must(mercer_fit(ctx, machine->name, settings, kernel, data, &model) == MERCER_OK, mercer_message(ctx));
    keep(ctx, z, model, name, (int)rows[k].set);
    specimen *one = &z->one[z->count - 1];
    snprintf(one->machine, sizeof one->machine, "%s", rows[k].machine);
    snprintf(one->kernel, sizeof one->kernel, "%s", rows[k].kernel);
    snprintf(one->settings, sizeof one->settings, "%s", rows[k].settings);
    add_update(ctx, z, model, data, name, (int)rows[k].set);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    free(settings);
}

static double own_value(void *user, double y, double F) {
    (void)user;
    return (F - y) * (F - y) / 2;
}

static double own_slope(void *user, double y, double F) {
    (void)user;
    return F - y;
}

static double own_curvature(void *user, double y, double F) {
    (void)user, (void)y, (void)F;
    return 1;
}

static void add_own(mercer_ctx *ctx, zoo *z, data_set set) {
    const mercer_own_loss loss = {.size = sizeof loss,
                                  .name = "mine",
                                  .classes = set != NUMBERS,
                                  .value = own_value,
                                  .slope = own_slope,
                                  .curvature = own_curvature};
    mercer_data *data = zoo_data(ctx, (int)set);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    must(mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel) == MERCER_OK, mercer_message(ctx));
    mercer_loss settings = mercer_loss_defaults("own-loss");
    settings.own = &loss;
    must(mercer_fit(ctx, "own-loss", &settings, kernel, data, &model) == MERCER_OK, mercer_message(ctx));
    keep(ctx, z, model, set == NUMBERS ? "own loss of numbers" : "own loss of classes", (int)set);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void add_libsvm(mercer_ctx *ctx, zoo *z, const char *text) {
    mc_input input;
    mercer_model *model = NULL;
    must(mc_input_copy(ctx, "text", text, (int64_t)strlen(text), &input) == MERCER_OK, "text");
    must(mc_libsvm_model_read(ctx, &input, &model) == MERCER_OK, mercer_message(ctx));
    mc_input_close(&input);
    keep(ctx, z, model, "of LIBSVM", NUMBERS);
    mercer_model_free(model);
}

void zoo_open(mercer_ctx *ctx, zoo *z) {
    *z = (zoo){0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        add_fit(ctx, z, k);
    add_own(ctx, z, NUMBERS);
    add_own(ctx, z, PAIR);
    add_own(ctx, z, THREE);
    add_libsvm(ctx, z,
               "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 "
               "1\nSV\n1 1:0.5 3:1\n-1 2:1\n");
    add_libsvm(ctx, z, "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:0.5 3:1\n");
    add_libsvm(ctx, z,
               "svm_type one_class\nkernel_type sigmoid\ngamma 0.5\ncoef0 0\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 "
               "1:0.5 3:1\n");
    for (int k = 0; k < LIBSVM_TEXTS; k++)
        add_libsvm(ctx, z, libsvm_texts[k]);
}

void zoo_close(zoo *z) {
    for (int k = 0; k < z->count; k++)
        free(z->one[k].bytes);
    z->count = 0;
}
