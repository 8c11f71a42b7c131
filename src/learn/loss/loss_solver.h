/* loss_solver.h: machines that are a convex loss and a penalty (problem/loss.h), between their files. One solver and
   one certificate serve them all:

       loss_settings.c      the settings rows of the machines
       loss_machine.c       the order of work: rows made ready, functions solved for, certified, kept
       loss_path.c          one lambda after the other, each from its neighbour
       loss_newton.c        smooth losses: Newton's method with a line search
       loss_surrogate.c     smooth losses on a low-rank surrogate for K, corrected by products with K
       loss_start.c         where that begins: on a part of the rows
       loss_workspace.c     what the steps share: K, its factor, scratch
       loss_newton_step.c   one Newton step: a linear system, by Cholesky or by conjugate gradients
       loss_primal_newton.c smooth losses in the weights of explicit features, where the kernel has few
       loss_landmarks.c     the same in those of landmarks: an approximation
       loss_primal.c        the linear systems of that
       loss_primal_factor.c their factors, of H or of a preconditioner
       loss_primal_cg.c     conjugate gradients for the large ones
       loss_precondition.c  the preconditioner of those
       loss_piecewise.c     piecewise linear losses: the quadratic program of the dual, by SMO */
#ifndef MC_LEARN_LOSS_LOSS_SOLVER_H
#define MC_LEARN_LOSS_LOSS_SOLVER_H

#include "iterative/preconditioner_rank.h"
#include "learn/common/machines.h"
#include "problem/loss.h"

/* loss_path.c: each is shown the function of every lambda, from the largest down, with kernel and scale borrowed for
   the call. */
mercer_status mc_loss_path(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mercer_kernel *kernel,
                           const mercer_data *data, const double *lambda, int64_t count, mc_fitted_each *each,
                           void *arg);

/* ---- Solving ---- */

/* Up to this many rows everything is computed in double precision and to rounding: it takes no time, and weights are
   then repeated rows. */
enum { MC_LOSS_FEW = 200 };

/* How Newton's systems are solved, and what that is called. */
typedef enum mc_loss_method {
    MC_LOSS_PCG,
    MC_LOSS_CHOLESKY,
    MC_LOSS_PRIMAL,
    MC_LOSS_NYSTROM,
    MC_LOSS_METHODS
} mc_loss_method;
extern const char *const mc_loss_methods[MC_LOSS_METHODS];

typedef struct mc_loss_workspace mc_loss_workspace;
/* What a workspace is for: the least lambda, fits to come, and a bound on c times the curvature. */
typedef struct mc_loss_demand {
    double lambda, fits, curvature;
} mc_loss_demand;
/* Everything the Newton steps share: operators, factors, scratch. columns: the most that a task has. */
mercer_status mc_loss_workspace_open(mercer_ctx *ctx, const mc_problem *p, const mc_loss_demand *ahead, int64_t columns,
                                     mc_loss_method method, mc_loss_workspace **out);
void mc_loss_workspace_close(mc_loss_workspace *workspace);
/* The lambda of the tasks to come. */
void mc_loss_workspace_set_lambda(mc_loss_workspace *workspace, double lambda);
/* Bytes it cannot do without. */
size_t mc_loss_workspace_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns, mc_loss_method method);
/* What steps by conjugate gradients take at most within the limit: they hold a factor, and K, where there is room. */
size_t mc_loss_workspace_most(mercer_ctx *ctx, const mc_problem *p, int64_t columns);
/* By which the rank of their factor is found, and whether K is kept, with the memory there is now. */
mc_rank_rule mc_loss_workspace_rule(mercer_ctx *ctx, const mc_problem *p, int64_t columns, double lambda, bool *kept);
/* NULL: the steps are not in features. */
struct mc_loss_primal *mc_loss_workspace_primal(const mc_loss_workspace *workspace);
int64_t mc_loss_workspace_rank(const mc_loss_workspace *workspace);
/* Whether mc_loss_correct is worth its first product. */
bool mc_loss_workspace_is_near(const mc_loss_workspace *workspace);
/* Many products are to come: K into memory, if it fits. */
mercer_status mc_loss_workspace_store(mercer_ctx *ctx, mc_loss_workspace *workspace);
/* The next Newton step of t. rho = -(lambda alpha + g); D is the step in alpha, KD = K D, db that in b. anew false:
   where that is much cheaper, curvatures of an earlier step of t will do. accuracy: of the linear system, relative.
   exact: KD in double precision. */
mercer_status mc_loss_step(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, const double *root,
                           bool anew, const double *rho, double accuracy, bool exact, double *D, double *KD,
                           double *db);

/* KV <- K V, n x k; exact: in double precision. */
mercer_status mc_loss_product(mercer_ctx *ctx, const mc_loss_workspace *workspace, int64_t k, bool exact,
                              const double *V, double *KV);

/* From t->alpha, t->f, t->b to a relative gap of aim, as far as f = K alpha holds. */
mercer_status mc_loss_newton(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim, bool exact);
size_t mc_loss_newton_bytes(int64_t n, int64_t k);
/* The duality gap at t->alpha, feasible, and f = K alpha. */
double mc_loss_gap(const mc_loss_task *t, const double *alpha, const double *f);

/* loss_surrogate.c: the same with few products. *arrived: it got there, or so it seems; otherwise t holds the point it
   got to. */
mercer_status mc_loss_correct(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim,
                              bool *arrived);
size_t mc_loss_correct_bytes(int64_t n, int64_t k);

/* loss_piecewise.c: all tasks, one column each, with intercepts. keep: K is stored from one solution to the next, where
   it fits. */
typedef struct mc_loss_qp mc_loss_qp;
mercer_status mc_loss_piecewise_open(mercer_ctx *ctx, const mc_problem *p, bool keep, mc_loss_qp **out);
void mc_loss_piecewise_close(mc_loss_qp *s);
mercer_status mc_loss_piecewise_solve(mercer_ctx *ctx, mc_loss_qp *s, mc_loss_task *tasks, int64_t count, double aim);
size_t mc_loss_piecewise_bytes(mercer_ctx *ctx, const mc_problem *p);
/* beside the products, in operations of a factorisation */
double mc_loss_piecewise_work(mercer_ctx *ctx, const mc_problem *p);

#endif
