/* user_function.h: kernels that are functions of the calling program. A node holds a reference, so that copies of a
   kernel and models share the function and its lock. */
#ifndef MC_KERNEL_LANGUAGE_USER_FUNCTION_H
#define MC_KERNEL_LANGUAGE_USER_FUNCTION_H

#include "kernel/evaluate/view.h"

typedef struct mc_user mc_user;

/* The functions a text may name, while it is parsed. */
typedef struct mc_users {
    const mercer_user_kernel *list;
    int count;
} mc_users;

/* Whether each says how large it is, all the same; the i-th of an array whose structs may be longer than ours. */
mercer_status mc_users_check(mercer_ctx *ctx, mc_users users);
const mercer_user_kernel *mc_users_at(mc_users users, int i);

/* Columns that do not follow each other in the row are copied together, at most so many. */
enum { MC_USER_COLUMNS = 1024 };

/* A holder of the function; of those already made in one text (*made, NULL at first) the one of the same name. */
mercer_status mc_user_make(mercer_ctx *ctx, const mercer_user_kernel *from, mc_user **made, mc_user **out);
mc_user *mc_user_keep(mc_user *user); /* one more holder; NULL stays NULL */
void mc_user_release(mc_user *user);
bool mc_user_positive(const mc_user *user);
/* out[i * m + j] <- k(x_i, z_j); false when the function says that it failed. */
bool mc_user_fill(const mc_user *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out);
/* One value in a view, for the reference evaluator; NaN when the function failed. */
double mc_user_value(const mc_user *user, const mc_view *view, const double *x, const double *z);
/* The columns in view follow each other in the row. */
bool mc_view_is_run(const mc_view *view);

#endif
