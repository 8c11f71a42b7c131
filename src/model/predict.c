/* predict.c: decisions and what they conclude to for many rows, block by block so that memory stays bounded whatever
   their number: a block is taken, scaled as the training rows were, and handed to predict/decision.c. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "certify/prediction_bound.h"
#include "data/table/data.h"
#include "model/model.h"
#include "model/widen.h"
#include <math.h>
#include <string.h>

enum {
    /* rows of a block: as many as have so many columns and decisions, within limits */
    LEAST = 8192,
    MOST = 32768,
    CELLS = 1 << 20,
    CHUNK = 512,
    TRIAL = 1024 /* rows of a first block that tells whether floats will do */
};

mercer_status mc_model_check_columns(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    const mercer_data *x = model->f.centres;
    if (mc_data_width(data) != mc_data_width(x))
        return mc_fail(ctx, MERCER_DATA, "predict: the data have %lld columns and the model was fitted on %lld",
                       (long long)mc_data_width(data), (long long)mc_data_width(x));
    for (int64_t j = 0; data->name && x->name && j < x->d; j++)
        if (strcmp(data->name[j], x->name[j]) != 0)
            return mc_fail(
                ctx, MERCER_DATA,
                "predict: column %lld of the data is '%s' and '%s' in the model; read the file with mercer_model_read",
                (long long)j + 1, data->name[j], x->name[j]);
    return MERCER_OK;
}

/* What is asked for every row: its decisions, what they conclude to, the class that wins, or what bounds the decisions.
 */
typedef enum ask { DECISIONS, OUTPUTS, CLASSES, BOUNDS } ask;

typedef struct request {
    const mc_fitted *f;
    ask what;
    bool floats;    /* classes: whether they are screened in float32 */
    int64_t width;  /* values of a row */
    double *values; /* n x width, or */
    int64_t *classes;
} request;

static request request_for(const mc_fitted *f, ask what, double *values, int64_t *classes) {
    return (request){.f = f,
                     .what = what,
                     .floats = what == CLASSES,
                     .values = values,
                     .classes = classes,
                     .width = what == DECISIONS ? mc_form_decisions(f->form, f->outputs)
                              : what == BOUNDS  ? 1
                                                : f->outputs};
}

typedef struct output_conclusion {
    const mc_fitted *f;
    double *values, *out; /* decisions and outputs of every row */
} output_conclusion;

static void conclude_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const output_conclusion *c = arg;
    const int64_t decisions = mc_form_decisions(c->f->form, c->f->outputs);
    for (int64_t i = begin; i < end; i++)
        mc_fitted_conclude(c->f, c->values + i * decisions, c->out + i * c->f->outputs);
}

static mercer_status conclude_rows(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    output_conclusion c = {.f = f, .out = out};
    MC_TRY(MC_ALLOC(ctx, c.values, rows->n * mc_form_decisions(f->form, f->outputs)));
    mercer_status status = mc_fitted_decide(ctx, f, rows, c.values, NULL);
    MC_THEN(status, mc_for(ctx, rows->n, CHUNK, conclude_chunk, &c));
    mc_free(c.values);
    return status;
}

static mercer_status predict_scaled(mercer_ctx *ctx, request *r, const mercer_data *rows, int64_t begin) {
    if (r->what == CLASSES)
        return mc_fitted_classify(ctx, r->f, rows, &r->floats, r->classes + begin);
    double *out = r->values + begin * r->width;
    if (r->what == BOUNDS)
        return mc_fitted_bound(ctx, r->f, rows, out);
    return r->what == DECISIONS || r->f->form == MC_VALUES ? mc_fitted_decide(ctx, r->f, rows, out, NULL)
                                                           : conclude_rows(ctx, r->f, rows, out);
}

static mercer_status predict_block(mercer_ctx *ctx, request *r, const mercer_data *rows, int64_t begin) {
    if (r->f->scale.kind == MC_SCALE_NONE)
        return predict_scaled(ctx, r, rows, begin);
    mercer_data *scaled = NULL;
    MC_TRY(mc_scale_apply(ctx, &r->f->scale, rows, &scaled));
    const mercer_status status = predict_scaled(ctx, r, scaled, begin);
    mercer_data_free(scaled);
    return status;
}

/* Dense rows of numbers are looked at where they are. */
static mercer_status predict_range(mercer_ctx *ctx, request *r, const mercer_data *data, int64_t begin, int64_t end) {
    mercer_data *block = NULL;
    if (!data->row_start && !data->texts) {
        mercer_data view = *data;
        view.n = end - begin;
        view.first = data->first + begin;
        view.values = (char *)data->values + (size_t)(begin * data->d) * mc_dtype_size(data->dtype);
        view.target = view.weight = NULL;
        view.class_of = NULL;
        view.outputs = view.classes = 0;
        return predict_block(ctx, r, &view, begin);
    }
    MC_TRY(mc_data_range(ctx, data, begin, end, &block));
    const mercer_status status = predict_block(ctx, r, block, begin);
    mercer_data_free(block);
    return status;
}

static int64_t block_at(const request *r, int64_t begin) {
    const int64_t rows = CELLS / (r->f->centres->d + mc_form_decisions(r->f->form, r->f->outputs));
    return r->floats && begin == 0 ? TRIAL : rows < LEAST ? LEAST : rows < MOST ? rows : MOST;
}

static mercer_status predict_fitted(mercer_ctx *ctx, request *r, const mercer_data *data) {
    mc_begin_phase(ctx, "predict");
    if (data->n <= block_at(r, 0))
        return predict_block(ctx, r, data, 0);
    const double n = (double)data->n;
    for (int64_t begin = 0, end; begin < data->n; begin = end) {
        end = begin + block_at(r, begin) < data->n ? begin + block_at(r, begin) : data->n;
        mc_set_phase_span(ctx, (double)begin / n, (double)end / n);
        MC_TRY(predict_range(ctx, r, data, begin, end));
    }
    return MERCER_OK;
}

static mercer_status predict_matched(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, request r) {
    mc_matched m;
    MC_TRY(mc_match_columns(ctx, model, data, false, &m));
    r.f = &m.model->f;
    const mercer_status status = predict_fitted(ctx, &r, m.rows);
    mc_matched_free(&m);
    return status;
}

mercer_status mc_model_predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    return predict_matched(ctx, model, data, request_for(&model->f, OUTPUTS, out, NULL));
}

mercer_status mc_model_decide(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    return predict_matched(ctx, model, data, request_for(&model->f, DECISIONS, out, NULL));
}

mercer_status mercer_decide(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    return mc_model_decide(ctx, model, data, out);
}

mercer_status mercer_prediction_bound(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                      double *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    return predict_matched(ctx, model, data, request_for(&model->f, BOUNDS, out, NULL));
}

mercer_status mercer_predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    return mc_model_predict(ctx, model, data, out);
}

mercer_status mc_model_classify(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, int64_t *out) {
    return predict_matched(ctx, model, data, request_for(&model->f, CLASSES, NULL, out));
}

mercer_status mercer_classify(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, int64_t *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    if (!model->f.centres->classes)
        return mc_fail(ctx, MERCER_INVALID,
                       "classify: %s predicts numbers here, not classes; mercer_predict gives them",
                       model->f.report.machine);
    return mc_model_classify(ctx, model, data, out);
}

/* ---- Probabilities ---- */

/* Probabilities of classes, from the decisions of machines whose loss is a likelihood.

       two classes   p_1 = 1 / (1 + exp(-d)), p_2 = 1 / (1 + exp(d))
       more          p_k = exp(f_k) / sum exp(f)

   Decisions closer than rounding can give equal probabilities; the losers are then moved one unit below the winner, so
   that the largest probability is always that of the predicted class. */

bool mercer_model_has_proba(const mercer_model *model) {
    if (!model)
        return false;
    return strcmp(model->f.report.machine, "logistic") == 0;
}

/* In place: values of classes to probabilities. Two classes have values d and -d, of which each is taken on its own. */
static void values_to_probabilities(int64_t k, double *row) {
    double sum = 0;
    int64_t best = 0;
    for (int64_t j = 1; j < k; j++)
        best = row[j] > row[best] ? j : best;
    const double most = row[best];
    for (int64_t j = 0; j < k; j++)
        sum += row[j] = k == 2 ? (j == best ? 1 : exp(-most)) : exp(row[j] - most);
    for (int64_t j = 0; j < k; j++)
        row[j] /= sum;
    for (int64_t j = 0; j < k; j++)
        if (j != best && row[j] >= row[best])
            row[j] = nextafter(row[best], 0);
}

mercer_status mercer_predict_proba(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    if (!mercer_model_has_proba(model))
        return mc_fail(ctx, MERCER_INVALID, "predict: %s gives no probabilities; logistic does",
                       model->f.report.machine);
    MC_TRY(mc_model_predict(ctx, model, data, out));
    for (int64_t i = 0; i < data->n; i++)
        values_to_probabilities(model->f.outputs, out + i * model->f.outputs);
    return MERCER_OK;
}
