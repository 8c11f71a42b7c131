/* The checker against derivations that were right until someone changed one thing in them, and against false ones made
   from scratch. */
#include "support.h"
#include "kernel/proof/prove.h"
#include "base/memory.h"
#include <string.h>

static const char *const valid[] = {
    "rbf(gamma=1)",
    "rbf",
    "rbf(gamma=[0.5, 2])",
    "1 + 2*linear + linear^2",
    "0.5*rbf(gamma=0.1) + linear*poly(degree=2, c=1)^2",
    "normalize(poly(degree=3)) + weigh(exp(-norm2/2), exp(linear))",
    "laplacian(gamma=2)*exponential + matern(nu=2.5) + rq",
    "periodic(period=3) + chi2 + 3*intersection + arccos + white",
    "form([[2, 1], [1, 2]]) + cosine",
    "(rbf*laplacian)^0.5 + exp(linear - 1)^1.5 + (2*rbf[1:2])^0.3",
    "weigh(exp(x[1]), matern(nu=1.5))^0.5*normalize(exp(linear))^0.7",
    "exp(linear) - 1 - linear",
    "poly(degree=2) - 1",
    "rbf(gamma=2)[1:2] - 0.5*rbf(gamma=1)[1:2]",
    "(2 - rbf(gamma=1))^-1 + exp(linear^2 - 1)",
    "rbf(gamma=1)[1:3] + periodic(period=12)[4]",
    "tanh(a=0, c=1) + rq(alpha=0.5)^0.5",
    "power(p=1.5, centred=1) + log(p=1, length_scale=2, centred=1)*multiquadric(centred=1)[1]",
    "exp(0.5*log(p=1) + 2*power[1:2] + rbf(gamma=1) - 3)^0.3",
};
enum { VALID = sizeof valid / sizeof valid[0] };

typedef struct subject {
    mercer_ctx *ctx;
    mercer_kernel *kernel;
    mc_derivation p;
    int64_t d;
} subject;

static subject derive(mercer_ctx *ctx, const char *text, int64_t d) {
    subject s = {.ctx = ctx, .d = d};
    const mc_term *stuck;
    bool found = false;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &s.kernel));
    assert_ok(ctx, mc_find_derivation(ctx, MC_IS_KERNEL, s.kernel->root, d, &s.p, &found, &stuck));
    if (!found)
        fail_msg("no derivation for %s", text);
    return s;
}

static void drop(subject *s) {
    mc_derivation_close(&s->p);
    mercer_kernel_free(s->kernel);
}

static bool accepted(subject *s) {
    bool ok = false;
    int bad;
    assert_ok(s->ctx, mc_check_derivation(s->ctx, &s->p, MC_IS_KERNEL, s->kernel->root, s->d, &ok, &bad));
    return ok;
}

#define assert_refused(s, what, i)                                                                                     \
    do {                                                                                                               \
        if (accepted(s))                                                                                               \
            fail_msg("%s: accepted with %s in line %d", (s)->kernel->text, what, (i) + 1);                             \
    } while (0)

/* Rules that multiply out apply to any expression, and rightly so. */
static bool is_algebra(mc_rule rule) {
    return rule >= MC_RULE_COLLECT && rule <= MC_RULE_SPECTRA;
}

static void with_every(void (*mutate)(subject *, int)) {
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < VALID; k++) {
        subject s = derive(ctx, valid[k], 0);
        assert_true(accepted(&s));
        for (int i = 0; i < s.p.count; i++)
            mutate(&s, i);
        assert_true(accepted(&s)); /* every mutation was undone */
        drop(&s);
    }
    close_clean(ctx);
}

static void change_rule(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    const mc_rule right = line->rule;
    for (int rule = 0; rule < MC_RULE_COUNT; rule++) {
        if ((mc_rule)rule == right || is_algebra((mc_rule)rule))
            continue;
        line->rule = (mc_rule)rule;
        assert_refused(s, "another rule", i);
    }
    line->rule = MC_RULE_COUNT;
    assert_refused(s, "no rule", i);
    line->rule = right;
}

static void change_judgement(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    const mc_judgement right = line->judgement;
    for (int j = MC_IS_KERNEL; j <= MC_ALL_POWERS; j++) {
        if ((mc_judgement)j == right)
            continue;
        line->judgement = (mc_judgement)j;
        assert_refused(s, "another judgement", i);
    }
    line->judgement = right;
}

static void change_premises(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    for (int k = 0; k < line->premises; k++) {
        const int right = line->premise[k];
        for (int other = 0; other <= s->p.count; other++) {
            if (other < i && (other == right || mc_term_equal(s->p.line[other].term, s->p.line[right].term)))
                continue;
            line->premise[k] = other;
            assert_refused(s, "another premise", i);
        }
        line->premise[k] = -1;
        assert_refused(s, "no such premise", i);
        line->premise[k] = right;
    }
}

static void drop_premise(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    if (line->premises == 0)
        return;
    line->premises--;
    assert_refused(s, "one premise less", i);
    line->premises++;
}

static void swap_premises(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    for (int k = 1; k < line->premises && !is_algebra(line->rule) && line->rule != MC_RULE_POWERS_EXP; k++) {
        const int a = line->premise[k - 1], b = line->premise[k];
        if (a == b)
            continue;
        line->premise[k - 1] = b;
        line->premise[k] = a;
        assert_refused(s, "premises swapped", i);
        line->premise[k - 1] = a;
        line->premise[k] = b;
    }
}

static void change_columns(subject *s, int i) {
    mc_proof_line *line = &s->p.line[i];
    const int64_t right = line->d;
    line->d = right + 7;
    assert_refused(s, "another number of columns", i);
    line->d = -1;
    assert_refused(s, "a negative number of columns", i);
    line->d = right;
}

/* A copy in which the number of leaf *k is another one; *k counts down over all numbers: of terms, powers and
   parameters. */
static const mc_term *with_number(mc_pool *pool, const mc_term *term, int *k, double factor, double shift) {
    mc_term *copy = mc_pool_take(pool, 1, sizeof *copy);
    const mc_term **child = mc_pool_take(pool, term->children, sizeof *child);
    *copy = *term;
    copy->child = child;
    if ((term->kind == MC_T_NUMBER || term->kind == MC_T_POWER || term->kind == MC_T_DOT) && (*k)-- == 0)
        copy->amount.factor = factor * copy->amount.factor + shift;
    if (term->kind == MC_T_ATOM || (term->kind == MC_T_SPECIAL && term->node)) {
        mc_node *node = mc_pool_take(pool, 1, sizeof *node);
        *node = *term->node;
        for (int i = 0; i < mc_atoms[node->atom].parameters; i++)
            if (node->parameter[i].kind == MC_VALUE_NUMBER && (*k)-- == 0)
                node->parameter[i].number = factor * node->parameter[i].number + shift;
        copy->node = node;
    }
    for (int i = 0; i < term->children; i++)
        child[i] = with_number(pool, term->child[i], k, factor, shift);
    return copy;
}

static void change_numbers(subject *s, int i) {
    static const double changes[][2] = {{-1, 0}, {1, 0.5}, {1, 1}, {0, -3}};
    mc_proof_line *line = &s->p.line[i];
    const mc_term *right = line->term;
    for (int change = 0; change < 4; change++)
        for (int k = 0, left = 0;; k++) {
            left = k;
            line->term = with_number(&s->p.pool, right, &left, changes[change][0], changes[change][1]);
            if (left >= 0)
                break; /* there is no k-th number */
            if (!mc_term_equal(line->term, right))
                assert_refused(s, "another number", i);
        }
    line->term = right;
}

static void test_another_rule_is_refused(void **state) {
    (void)state;
    with_every(change_rule);
}

static void test_another_judgement_is_refused(void **state) {
    (void)state;
    with_every(change_judgement);
}

static void test_another_premise_is_refused(void **state) {
    (void)state;
    with_every(change_premises);
}

static void test_a_missing_premise_is_refused(void **state) {
    (void)state;
    with_every(drop_premise);
}

static void test_swapped_premises_are_refused(void **state) {
    (void)state;
    with_every(swap_premises);
}

static void test_another_number_of_columns_is_refused(void **state) {
    (void)state;
    with_every(change_columns);
}

static void test_another_number_is_refused(void **state) {
    (void)state;
    with_every(change_numbers);
}

static void test_a_proof_of_something_else_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *other = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "tanh(a=1, c=0)", &other));
    for (int k = 0; k < VALID; k++) {
        subject s = derive(ctx, valid[k], 0);
        bool ok;
        int bad;
        assert_ok(ctx, mc_check_derivation(ctx, &s.p, MC_IS_KERNEL, other->root, 0, &ok, &bad));
        assert_false(ok);
        s.p.count = 0;
        assert_false(accepted(&s));
        s.p.count = 1;
        drop(&s);
    }
    mercer_kernel_free(other);
    close_clean(ctx);
}

/* A difference of Gaussians that is a kernel on R^2 is none on R^3, and the line says for which d. */
static void test_a_proof_for_two_columns_is_none_for_three(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    subject s = derive(ctx, "rbf(gamma=2) - 0.5*rbf(gamma=1)", 2);
    assert_true(accepted(&s));
    s.d = 3;
    assert_false(accepted(&s));
    s.p.line[s.p.count - 1].d = 3;
    assert_false(accepted(&s));
    s.d = 0;
    assert_false(accepted(&s));
    s.p.line[s.p.count - 1].d = 0;
    assert_false(accepted(&s));
    drop(&s);
    close_clean(ctx);
}

/* The same derivation with another function in all its lines. */
static void test_powers_of_a_weight_need_its_sign(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    subject s = derive(ctx, "weigh(norm, rbf(gamma=1))^0.5", 0), other = derive(ctx, "weigh(x[1], rbf(gamma=1))", 0);
    mc_function **norm = &s.kernel->root->child[0]->function, **column = &other.kernel->root->function, *kept = *norm;
    assert_true(accepted(&s));
    *norm = *column;
    assert_false(accepted(&s));
    *norm = kept;
    drop(&s);
    drop(&other);
    close_clean(ctx);
}

/* ---- false claims, under every rule and every choice of up to two premises, themselves among them ---- */

static const char *const not_kernels[] = {
    "tanh(a=1, c=0)",
    "-1*linear",
    "linear - rbf(gamma=1)",
    "(1 + linear)^1.5",
    "poly(degree=1.5)",
    "poly(degree=2, c=-1)",
    "form([[1, 2], [2, 1]])",
    "exp(-1*linear)",
    "1 - rbf(gamma=1)",
    "rbf(gamma=1)^-1",
    "normalize(-1*linear)",
    "-1",
    "(linear - 1)[1]",
    "weigh(norm, -1*rbf(gamma=1))",
    "exp(linear) - 2*linear",
    "(2 - linear)^-1",
    "tanh(a=0, c=-1)",
    "rbf(gamma=1) - 0.5*rbf(gamma=2)",
    "laplacian(gamma=1) - 0.5*white",
    "linear[1] - linear",
    "linear^2 - 1.1*linear[1]*linear",
    "rbf(gamma=1) - weigh(exp(-norm2), 1.1)",
    "arccos(order=0) - 0.6",
    "white*(linear - 1)",
    "normalize(exp(-1*linear))",
    "weigh(x[1], rbf(gamma=1))^0.5",
};

static void try_everything(subject *s, mc_proof_line claim) {
    int premise[2];
    const int last = s->p.count;
    int64_t item = 0;
    claim.premise = premise;
    for (int rule = 0; rule < MC_RULE_COUNT; rule++)
        for (int a = -1; a <= last; a++)
            for (int b = -1; b <= (a < 0 ? -1 : last); b++) {
                if (!test_takes(item++))
                    continue;
                claim.rule = (mc_rule)rule;
                claim.premises = (a >= 0) + (b >= 0);
                premise[0] = a;
                premise[1] = b;
                s->p.line[last] = claim;
                s->p.count = last + 1;
                if (accepted(s))
                    fail_msg("%s was accepted by rule %d from lines %d and %d", s->kernel->text, rule, a, b);
                s->p.count = last;
            }
}

static void test_no_rule_proves_what_is_false(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof not_kernels / sizeof not_kernels[0]; k++) {
        subject s = derive(ctx,
                           "rbf(gamma=1)^0.5 + weigh(norm, rbf(gamma=1))^0.5 + exp(2*linear) + (1 + linear)^2"
                           " + laplacian(gamma=1)*white",
                           0);
        s.p.line = mc_grow_block(ctx, s.p.line, s.p.count + 1, sizeof *s.p.line);
        mercer_kernel *proved = s.kernel; /* the lines borrow its nodes */
        assert_ok(ctx, mercer_kernel_parse(ctx, not_kernels[k], &s.kernel));
        mc_pool pool = mc_pool_open(ctx);
        try_everything(&s, (mc_proof_line){.judgement = MC_IS_KERNEL, .term = mc_term_from(&pool, s.kernel->root)});
        mc_pool_close(&pool);
        mercer_kernel_free(proved);
        drop(&s);
    }
    close_clean(ctx);
}

/* Conditionally positive is another claim than kernel, and of order 2 another than of order 1. */
static void test_conditional_goals_are_kept_apart(void **state) {
    static const char *const text[] = {"power(p=1.5) + 2*log[1] + rbf(gamma=1) - 3", "multiquadric(c=2)[2:3] - 1",
                                       "thin_plate + 3*log", "0.5*thin_plate[1:2] + linear - 1"};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int i = 0; i < 4; i++) {
        const mc_judgement right = i < 2 ? MC_IS_CONDITIONAL : MC_IS_CONDITIONAL_2;
        static const mc_judgement goals[] = {MC_IS_KERNEL, MC_IS_CONDITIONAL, MC_IS_CONDITIONAL_2};
        subject s = {.ctx = ctx};
        const mc_term *stuck;
        bool found = false, ok = false;
        int bad;
        assert_ok(ctx, mercer_kernel_parse(ctx, text[i], &s.kernel));
        assert_ok(ctx, mc_find_derivation(ctx, right, s.kernel->root, 0, &s.p, &found, &stuck));
        assert_true(found);
        for (int g = 0; g < 3; g++) {
            assert_ok(ctx, mc_check_derivation(ctx, &s.p, goals[g], s.kernel->root, 0, &ok, &bad));
            assert_int_equal(ok, goals[g] == right);
        }
        drop(&s);
    }
    close_clean(ctx);
}

/* A subtracted function, a product of two, and a thin plate in place of a kernel do not follow. */
static void test_false_conditional_lines_are_refused(void **state) {
    static const struct {
        const char *text;
        mc_rule rule;
    } wrong[] = {{"rbf(gamma=1) - power", MC_RULE_CONDITIONAL_SUM}, {"-1*power", MC_RULE_CONDITIONAL_MULTIPLE},
                 {"power*log", MC_RULE_CONDITIONAL_MULTIPLE},       {"thin_plate", MC_RULE_CONDITIONAL_ATOM},
                 {"power(centred=1)", MC_RULE_CONDITIONAL_ATOM},    {"rbf(gamma=1)", MC_RULE_CONDITIONAL_ATOM}};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        subject s = {.ctx = ctx};
        const mc_term *stuck;
        bool found = false, ok = true;
        int bad;
        assert_ok(ctx, mercer_kernel_parse(ctx, wrong[i].text, &s.kernel));
        assert_ok(ctx, mc_find_derivation(ctx, MC_IS_CONDITIONAL, s.kernel->root, 0, &s.p, &found, &stuck));
        assert_false(found);
        mc_proof_line line = {.judgement = MC_IS_CONDITIONAL, .rule = wrong[i].rule};
        line.term = mc_term_from(&s.p.pool, s.kernel->root);
        mc_derivation forged = {.line = &line, .count = 1};
        assert_ok(ctx, mc_check_derivation(ctx, &forged, MC_IS_CONDITIONAL, s.kernel->root, 0, &ok, &bad));
        assert_false(ok);
        drop(&s);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditional_goals_are_kept_apart),
        cmocka_unit_test(test_false_conditional_lines_are_refused),
        cmocka_unit_test(test_another_rule_is_refused),
        cmocka_unit_test(test_another_judgement_is_refused),
        cmocka_unit_test(test_another_premise_is_refused),
        cmocka_unit_test(test_a_missing_premise_is_refused),
        cmocka_unit_test(test_swapped_premises_are_refused),
        cmocka_unit_test(test_another_number_of_columns_is_refused),
        cmocka_unit_test(test_another_number_is_refused),
        cmocka_unit_test(test_a_proof_of_something_else_is_refused),
        cmocka_unit_test(test_a_proof_for_two_columns_is_none_for_three),
        cmocka_unit_test(test_powers_of_a_weight_need_its_sign),
        cmocka_unit_test(test_no_rule_proves_what_is_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
