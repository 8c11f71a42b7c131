/* deal.c: see deal.h. */
#include "base/deal.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"

mc_deal mc_deal_out(const mercer_ctx *ctx, int64_t count) {
    if (!mc_ranks_share(ctx))
        return (mc_deal){.count = count, .ranks = 1};
    return (mc_deal){.count = count, .rank = ctx->ranks->rank, .ranks = ctx->ranks->count};
}

int64_t mc_deal_own(const mc_deal *deal, int rank) {
    return (deal->count - rank + deal->ranks - 1) / deal->ranks;
}

int64_t mc_deal_piece(const mc_deal *deal, int64_t own) {
    return own * deal->ranks + deal->rank;
}

static int64_t numbers_of(const mc_deal *deal, const mc_deal_news *news, int rank) {
    int64_t sum = 0;
    for (int64_t piece = rank; piece < deal->count; piece += deal->ranks)
        sum += news->numbers(news->arg, piece);
    return sum;
}

static void give_own(const mc_deal *deal, const mc_deal_news *news, double *out) {
    for (int64_t piece = deal->rank; piece < deal->count; piece += deal->ranks) {
        news->give(news->arg, piece, out);
        out += news->numbers(news->arg, piece);
    }
}

static void take_others(const mc_deal *deal, const mc_deal_news *news, const double *in) {
    for (int k = 0; k < deal->ranks; k++)
        for (int64_t piece = k; piece < deal->count; piece += deal->ranks) {
            if (k != deal->rank)
                news->take(news->arg, piece, in);
            in += news->numbers(news->arg, piece);
        }
}

static mercer_status tell_results(mercer_ctx *ctx, const mc_deal *deal, uint64_t what, mercer_status status,
                                  const mc_deal_news *news, double **mine, double **all) {
    int64_t sum = 0;
    for (int k = 0; k < deal->ranks; k++)
        sum += numbers_of(deal, news, k);
    MC_THEN(status, MC_ALLOC(ctx, *mine, numbers_of(deal, news, deal->rank)));
    MC_THEN(status, MC_ALLOC(ctx, *all, sum));
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_PIECES, what, status));
    int64_t *counts = ctx->ranks->counts;
    for (int k = 0; k < deal->ranks; k++)
        counts[k] = numbers_of(deal, news, k);
    give_own(deal, news, *mine);
    MC_TRY(mc_ranks_gather_parts(ctx, *mine, counts, *all));
    take_others(deal, news, *all);
    return MERCER_OK;
}

mercer_status mc_deal_tell(mercer_ctx *ctx, const mc_deal *deal, uint64_t what, mercer_status status,
                           const mc_deal_news *news) {
    double *mine = NULL, *all = NULL;
    if (deal->ranks > 1)
        status = tell_results(ctx, deal, what, status, news, &mine, &all);
    mc_free(all);
    mc_free(mine);
    return status;
}
