/* share_product.c: see share_product.h.

   Task number k of a product is done by rank k modulo their number; its sums, which belong to one block of rows or to
   two, go to the ranks that own these blocks, block b to rank b modulo their number. The owner adds them in the order
   of the tasks, the one in which a rank alone adds them, so that no bit depends on how many ranks there are. At the end
   every rank gets all rows.

   A product goes in stages of so many tasks of each rank, so that what waits to be added up takes as much memory as a
   few vectors. All ranks agree before they hand anything around: base/ranks.h. */
#include "gram/operator/share_product.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/ranks.h"
#include "base/status.h"
#include "base/workspace.h"
#include "gram/operator/entry_fault.h"
#include <string.h>

enum { LEAST_EACH = 16 };             /* tasks of a rank in a stage, where there are so many */
static const double LEAST_WORK = 3e7; /* pairs times coordinates of a product that is worth a message */

typedef struct shared_product {
    const mc_product *p;
    int rank, ranks;
    int64_t tasks, each;                      /* of the product; of a rank in a stage, at most */
    int64_t task, number;                     /* where the stage begins: tasks with nothing to do have no number */
    int64_t own, *own_task, *place;           /* of this rank in the stage, and where in out their two parts go */
    int64_t *out_counts, *in_counts, *cursor; /* by rank */
    int64_t most_out, most_in;                /* numbers of any stage */
    int64_t most_mine, most_all;              /* numbers of this rank's rows, and of all */
    double *out, *in, *mine, *all;
} shared_product;

bool mc_product_is_shared(const mercer_ctx *ctx, const mc_product *p) {
    const double pairs = (double)p->g->x->n * (double)p->g->z->n;
    return mc_ranks_share(ctx) && mc_product_tasks(p) > 1 && pairs * ((double)p->g->x->d + 16) >= LEAST_WORK;
}

/* That of the right-hand sides among it: ranks that differ in them have parted long before. */
mercer_status mc_product_begin_shared(mercer_ctx *ctx, const mc_product *p, mercer_status opened) {
    const int64_t shape[] = {p->g->x->n, p->g->z->n, p->ld, p->rows_each};
    uint64_t what = mc_hash(0, shape, sizeof shape);
    what = mc_hash(what, p->V, (size_t)(p->g->z->n * p->ld) * sizeof *p->V);
    return mc_ranks_agree(ctx, MC_RANKS_PRODUCT, what, opened);
}

/* ---- Tasks ---- */

static int owner_of(const shared_product *s, int64_t block) {
    return (int)(block % s->ranks);
}

static int64_t part_length(const shared_product *s, int64_t block) {
    return mc_product_block_rows(s->p, block) * s->p->t;
}

/* Of a rectangular product: one block, and the range as its round. */
static mc_product_pair pair_of(const mc_product *p, int64_t task) {
    if (p->g->symmetric)
        return mc_product_pair_of(p, task);
    return (mc_product_pair){task % p->ranges, task / p->ranges, task / p->ranges};
}

/* Of a task that this rank does, or another: source. */
typedef void visit_task(shared_product *s, int64_t task, const mc_product_pair *pair, int source);

/* The stage, task by task; where the next one begins. */
static int64_t visit_stage(shared_product *s, visit_task *visit, int64_t *number) {
    int64_t task = s->task;
    *number = s->number;
    for (; task < s->tasks && *number < s->number + s->each * s->ranks; task++) {
        const mc_product_pair pair = pair_of(s->p, task);
        if (pair.J < s->p->blocks)
            visit(s, task, &pair, (int)((*number)++ % s->ranks));
    }
    return task;
}

static void count_part(shared_product *s, int64_t block, int source) {
    if (source == s->rank)
        s->out_counts[owner_of(s, block)] += part_length(s, block);
    if (owner_of(s, block) == s->rank)
        s->in_counts[source] += part_length(s, block);
}

static void count_parts(shared_product *s, int64_t task, const mc_product_pair *pair, int source) {
    (void)task;
    count_part(s, pair->I, source);
    if (pair->J != pair->I)
        count_part(s, pair->J, source);
}

static int64_t place_part(shared_product *s, int64_t block) {
    const int64_t place = s->cursor[owner_of(s, block)];
    s->cursor[owner_of(s, block)] += part_length(s, block);
    return place;
}

static void place_parts(shared_product *s, int64_t task, const mc_product_pair *pair, int source) {
    if (source != s->rank)
        return;
    s->own_task[s->own] = task;
    s->place[2 * s->own] = place_part(s, pair->I);
    s->place[2 * s->own + 1] = pair->J != pair->I ? place_part(s, pair->J) : -1;
    s->own++;
}

/* cursor <- where the parts of each rank begin */
static int64_t begin_parts(const shared_product *s, const int64_t *counts) {
    int64_t at = 0;
    for (int k = 0; k < s->ranks; k++) {
        s->cursor[k] = at;
        at += counts[k];
    }
    return at;
}

static void count_stage(shared_product *s, int64_t *next, int64_t *number) {
    memset(s->out_counts, 0, (size_t)s->ranks * sizeof *s->out_counts);
    memset(s->in_counts, 0, (size_t)s->ranks * sizeof *s->in_counts);
    *next = visit_stage(s, count_parts, number);
}

/* What the largest stage hands around. */
static void measure_stages(shared_product *s) {
    for (s->task = s->number = 0; s->task < s->tasks;) {
        int64_t next, number;
        count_stage(s, &next, &number);
        s->most_out = mc_max_count(s->most_out, begin_parts(s, s->out_counts));
        s->most_in = mc_max_count(s->most_in, begin_parts(s, s->in_counts));
        s->task = next;
        s->number = number;
    }
    s->task = s->number = 0;
}

/* ---- A stage ---- */

static void copy_part(const shared_product *s, int64_t block, const double *sum, double *to) {
    const int64_t rows = mc_product_block_rows(s->p, block);
    for (int64_t c = 0; c < s->p->t; c++)
        memcpy(to + c * rows, sum + c * s->p->rows_each, (size_t)rows * sizeof *to);
}

static void compute_task(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const shared_product *s = arg;
    const mc_product_pair pair = pair_of(s->p, s->own_task[chunk]);
    const int64_t *place = s->place + 2 * chunk;
    const mc_product_sums sums = s->p->g->symmetric ? mc_product_pair_sums(s->p, &pair, thread)
                                                    : mc_product_range_sums(s->p, s->own_task[chunk], thread);
    copy_part(s, pair.I, sums.rows, s->out + place[0]);
    if (place[1] >= 0)
        copy_part(s, pair.J, sums.columns, s->out + place[1]);
}

/* A sum of one range alone is the result as it stands, down to the sign of a zero. */
static void add_part(shared_product *s, int64_t block, int source) {
    if (owner_of(s, block) != s->rank)
        return;
    const mc_product *p = s->p;
    const bool alone = !p->g->symmetric && p->ranges == 1;
    const double *part = s->in + s->cursor[source];
    const int64_t rows = mc_product_block_rows(p, block);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < p->t; c++) {
            double *y = &p->Y[(block * p->rows_each + i) * p->ld + c];
            *y = alone ? part[c * rows + i] : *y + part[c * rows + i];
        }
    s->cursor[source] += part_length(s, block);
}

static void add_parts(shared_product *s, int64_t task, const mc_product_pair *pair, int source) {
    (void)task;
    add_part(s, pair->I, source);
    if (pair->J != pair->I)
        add_part(s, pair->J, source);
}

static mercer_status run_stage(mercer_ctx *ctx, shared_product *s, uint64_t what) {
    int64_t next, number;
    count_stage(s, &next, &number);
    begin_parts(s, s->out_counts);
    s->own = 0;
    visit_stage(s, place_parts, &number);
    mercer_status status = mc_for(ctx, s->own, 1, compute_task, s);
    MC_THEN(status, mc_fault_report(ctx, s->p->g));
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_PRODUCT, what, status));
    MC_TRY(mc_ranks_exchange(ctx, s->out, s->out_counts, s->in, s->in_counts));
    begin_parts(s, s->in_counts);
    visit_stage(s, add_parts, &number);
    s->task = next;
    s->number = number;
    return MERCER_OK;
}

/* ---- All rows ---- */

/* Rows of a block between Y and where they lie in a row. */
static double *copy_rows(const shared_product *s, int64_t block, double *at, bool back) {
    const mc_product *p = s->p;
    const size_t bytes = (size_t)p->t * sizeof *at;
    for (int64_t i = 0; i < mc_product_block_rows(p, block); i++, at += p->t) {
        double *y = p->Y + (block * p->rows_each + i) * p->ld;
        memcpy(back ? y : at, back ? at : y, bytes);
    }
    return at;
}

static mercer_status gather_rows(mercer_ctx *ctx, shared_product *s) {
    double *at = s->mine;
    memset(s->out_counts, 0, (size_t)s->ranks * sizeof *s->out_counts);
    for (int64_t b = 0; b < s->p->blocks; b++) {
        s->out_counts[owner_of(s, b)] += part_length(s, b);
        at = owner_of(s, b) == s->rank ? copy_rows(s, b, at, false) : at;
    }
    MC_TRY(mc_ranks_gather_parts(ctx, s->mine, s->out_counts, s->all));
    at = s->all;
    for (int k = 0; k < s->ranks; k++)
        for (int64_t b = k; b < s->p->blocks; b += s->ranks)
            at = copy_rows(s, b, at, true);
    return MERCER_OK;
}

/* ---- The product ---- */

static int64_t tasks_each(int64_t blocks) {
    return blocks > LEAST_EACH ? blocks : LEAST_EACH;
}

static int64_t own_blocks(int64_t blocks, int ranks) {
    return mc_chunk_count(blocks, ranks);
}

static void cut_counts(mc_work *work, void *self) {
    shared_product *s = self;
    s->own_task = mc_work_take(work, s->each, sizeof *s->own_task);
    s->place = mc_work_take(work, 2 * s->each, sizeof *s->place);
    s->out_counts = mc_work_take(work, s->ranks, sizeof *s->out_counts);
    s->in_counts = mc_work_take(work, s->ranks, sizeof *s->in_counts);
    s->cursor = mc_work_take(work, s->ranks, sizeof *s->cursor);
}

static void cut_parts(mc_work *work, void *self) {
    shared_product *s = self;
    s->out = mc_work_take(work, s->most_out, sizeof *s->out);
    s->in = mc_work_take(work, s->most_in, sizeof *s->in);
    s->mine = mc_work_take(work, s->most_mine, sizeof *s->mine);
    s->all = mc_work_take(work, s->most_all, sizeof *s->all);
}

static mercer_status open_shared(mercer_ctx *ctx, shared_product *s, mc_work *counts, mc_work *parts) {
    MC_TRY(mc_work_lay(ctx, counts, cut_counts, s));
    measure_stages(s);
    return mc_work_lay(ctx, parts, cut_parts, s);
}

static void clear_rows(const mc_product *p) {
    for (int64_t i = 0; i < p->g->x->n; i++)
        memset(p->Y + i * p->ld, 0, (size_t)p->t * sizeof *p->Y);
}

mercer_status mc_product_share(mercer_ctx *ctx, const mc_product *p) {
    shared_product s = {.p = p,
                        .rank = ctx->ranks->rank,
                        .ranks = ctx->ranks->count,
                        .tasks = mc_product_tasks(p),
                        .each = tasks_each(p->blocks),
                        .most_mine = own_blocks(p->blocks, ctx->ranks->count) * p->rows_each * p->t,
                        .most_all = p->g->x->n * p->t};
    mc_work counts = {0}, parts = {0};
    mercer_status status = mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 1, open_shared(ctx, &s, &counts, &parts));
    if (!status)
        clear_rows(p);
    for (uint64_t stage = 2; s.task < s.tasks && !status; stage++)
        status = run_stage(ctx, &s, stage);
    MC_THEN(status, gather_rows(ctx, &s));
    mc_work_close(&parts);
    mc_work_close(&counts);
    return status;
}

/* A stage has so many tasks of each rank, or all there are, and two parts of each at most; of every block it has one
   part in a round, or a range. */
size_t mc_product_share_bytes(const mercer_ctx *ctx, const mc_product_size *size, int64_t t) {
    if (!mc_ranks_share(ctx))
        return 0;
    const mc_product_split split = mc_product_shape(size);
    const int ranks = ctx->ranks->count;
    const int64_t each = tasks_each(split.blocks), parts = size->symmetric ? 2 : 1, row = split.rows_each * t,
                  all = size->symmetric ? split.blocks + 1 : split.ranges,
                  stage = split.blocks ? parts * each * ranks / split.blocks + 2 : 0,
                  rounds = stage < all ? stage : all;
    shared_product s = {.ranks = ranks,
                        .each = each,
                        .most_out = parts * each * row,
                        .most_in = rounds * own_blocks(split.blocks, ranks) * row,
                        .most_mine = own_blocks(split.blocks, ranks) * row,
                        .most_all = size->n * t};
    return mc_slices_bytes(cut_counts, &s) + mc_slices_bytes(cut_parts, &s) + 4 * MC_ALIGN;
}
