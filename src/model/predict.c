/* predict.c: decisions and what they conclude to for many rows, block by block so that memory stays bounded whatever
   their number: a block is taken, scaled as the training rows were, and handed to predict/decision.c. Ranks have blocks
   of their own. */
#include "backend/device.h"
#include "base/ctx.h"
#include "base/deal.h"
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
    FOR_CARD = 4, /* times as many where a card is named: the centres go there with each block */
    BLOCKS = 64,  /* or fewer, where they keep LEAST rows, so that many ranks have some */
    CHUNK = 512,
    TRIAL = 1024,    /* rows of a first block that tells whether floats will do */
    LEAST_BLOCKS = 2 /* of each rank, where they are dealt out; of fewer the products are shared */
};
static const double LEAST_WORK = 3e7; /* rows times centres times coordinates that are worth a message */

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

/* Blocks depend on the rows and the model alone, not on how many ranks there are: the decisions of a block are sums
   whose order its size tells. */
typedef struct row_blocks {
    int64_t n, first, each, count; /* rows: all, of the first block, of each other; blocks */
} row_blocks;

static row_blocks blocks_of(const mercer_ctx *ctx, const request *r, int64_t n) {
    const bool card = !mc_device_is_automatic(ctx) && !mc_device_is_refused(ctx);
    const int64_t cells = r->f->centres->d + mc_form_decisions(r->f->form, r->f->outputs),
                  fit = CELLS * (card ? FOR_CARD : 1) / cells,
                  many = mc_chunk_count(mc_chunk_count(n, BLOCKS), CHUNK) * CHUNK,
                  most = card          ? MOST * FOR_CARD
                         : many < MOST ? many
                                       : MOST,
                  rows = fit < most ? fit : most;
    row_blocks b = {.n = n, .each = rows > LEAST ? rows : LEAST};
    b.first = r->floats ? TRIAL : b.each;
    b.count = n > b.first ? 1 + mc_chunk_count(n - b.first, b.each) : 1;
    return b;
}

static int64_t block_begin(const row_blocks *b, int64_t block) {
    const int64_t row = block ? b->first + (block - 1) * b->each : 0;
    return row < b->n ? row : b->n;
}

static mercer_status predict_blocks(mercer_ctx *ctx, request *r, const mercer_data *data, const row_blocks *b,
                                    const mc_deal *deal) {
    const int64_t own = mc_deal_own(deal, deal->rank);
    for (int64_t k = 0; k < own; k++) {
        const int64_t block = mc_deal_piece(deal, k);
        mc_set_phase_span(ctx, (double)k / (double)own, (double)(k + 1) / (double)own);
        MC_TRY(predict_range(ctx, r, data, block_begin(b, block), block_begin(b, block + 1)));
    }
    return MERCER_OK;
}

/* ---- Blocks dealt out to ranks, where there are enough of them ---- */

typedef struct block_news {
    const row_blocks *b;
    const request *r;
} block_news;

static int64_t news_numbers(const void *arg, int64_t block) {
    const block_news *s = arg;
    return (block_begin(s->b, block + 1) - block_begin(s->b, block)) * (s->r->classes ? 1 : s->r->width);
}

/* Classes travel as the bytes they are. */
_Static_assert(sizeof(int64_t) == sizeof(double), "a class takes the room of a number");

static char *place_of(const block_news *s, int64_t block) {
    const int64_t row = block_begin(s->b, block);
    return s->r->classes ? (char *)(s->r->classes + row) : (char *)(s->r->values + row * s->r->width);
}

static void give_block(const void *arg, int64_t block, double *out) {
    memcpy(out, place_of(arg, block), (size_t)news_numbers(arg, block) * sizeof *out);
}

static void take_block(void *arg, int64_t block, const double *in) {
    memcpy(place_of(arg, block), in, (size_t)news_numbers(arg, block) * sizeof *in);
}

static bool worth_dealing(const mercer_ctx *ctx, const request *r, const row_blocks *b) {
    const double work = (double)b->n * (double)r->f->centres->n * (double)(r->f->centres->d + 16);
    return mc_ranks_share(ctx) && b->count >= (int64_t)LEAST_BLOCKS * mercer_ranks(ctx) && work >= LEAST_WORK;
}

static mercer_status predict_dealt(mercer_ctx *ctx, request *r, const mercer_data *data, const row_blocks *b) {
    block_news s = {b, r};
    const mc_deal deal = mc_deal_out(ctx, b->count);
    const mc_deal_news news = {news_numbers, give_block, take_block, &s};
    mc_ranks_begin_own(ctx);
    const mercer_status status = predict_blocks(ctx, r, data, b, &deal);
    mc_ranks_end_own(ctx);
    return mc_deal_tell(ctx, &deal, (uint64_t)b->n, status, &news);
}

static mercer_status predict_fitted(mercer_ctx *ctx, request *r, const mercer_data *data) {
    mc_begin_phase(ctx, "predict");
    const row_blocks b = blocks_of(ctx, r, data->n);
    ctx->device.pairs = (double)data->n * (double)r->f->centres->n; /* which auto weighs as a whole */
    if (b.count == 1)
        return predict_block(ctx, r, data, 0);
    if (worth_dealing(ctx, r, &b))
        return predict_dealt(ctx, r, data, &b);
    return predict_blocks(ctx, r, data, &b, &(mc_deal){.count = b.count, .ranks = 1});
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
