/* user_function.c: a function of the calling program as a kernel: counted references, one call at a time where that was
   asked for.

   The function is called from whatever thread needs a block. A program whose function is not ready for that sets
   serial, and calls then wait for each other; the values, and so the results, are the same. */
#include "kernel/language/user_function.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct mc_user {
    mercer_user_kernel is;
    mc_user *next; /* of those made for one text, while it is parsed */
    const mercer_user_kernel *from;
    atomic_int holders;
    pthread_mutex_t lock;
};

const mercer_user_kernel *mc_users_at(mc_users users, int i) {
    return (const mercer_user_kernel *)(const void *)((const char *)users.list + (size_t)i * users.list->size);
}

mercer_status mc_users_check(mercer_ctx *ctx, mc_users users) {
    for (int i = 0; users.list && i < users.count; i++) {
        MC_TRY(mc_sized_check(ctx, "mercer_user_kernel", mc_users_at(users, i)));
        if (mc_users_at(users, i)->size != users.list->size)
            return mc_fail(ctx, MERCER_INVALID,
                           "mercer_user_kernel.size of function %d is %zu and not %zu, as before it", i + 1,
                           mc_users_at(users, i)->size, users.list->size);
    }
    return MERCER_OK;
}

mercer_status mc_user_make(mercer_ctx *ctx, const mercer_user_kernel *from, mc_user **made, mc_user **out) {
    for (*out = *made; *out && (*out)->from != from;)
        *out = (*out)->next;
    if (mc_user_keep(*out))
        return MERCER_OK;
    mc_user *user = NULL;
    if (!from->fill)
        return mc_fail(ctx, MERCER_INVALID, "the function of user(\"%.80s\") is NULL", from->name);
    MC_TRY(MC_ALLOC(ctx, user, 1));
    const mercer_status status = mc_sized_read(ctx, "mercer_user_kernel", from, &user->is, sizeof user->is);
    if (status) {
        mc_free(user);
        return status;
    }
    user->is.name = NULL; /* the node has it */
    user->from = from;
    user->next = *made;
    atomic_init(&user->holders, 1);
    if (pthread_mutex_init(&user->lock, NULL) != 0) {
        mc_free(user);
        return mc_fail(ctx, MERCER_MEMORY, "no lock for the function of user(\"%.80s\")", from->name);
    }
    *out = *made = user;
    return MERCER_OK;
}

mc_user *mc_user_keep(mc_user *user) {
    if (user)
        atomic_fetch_add(&user->holders, 1);
    return user;
}

void mc_user_release(mc_user *user) {
    if (!user || atomic_fetch_sub(&user->holders, 1) != 1)
        return;
    pthread_mutex_destroy(&user->lock);
    mc_free(user);
}

bool mc_user_positive(const mc_user *user) {
    return user && user->is.positive;
}

bool mc_user_fill(const mc_user *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    if (!user->is.serial)
        return user->is.fill(user->is.user, d, n, x, m, z, out) == 0;
    pthread_mutex_t *lock = (pthread_mutex_t *)&user->lock;
    pthread_mutex_lock(lock);
    const bool done = user->is.fill(user->is.user, d, n, x, m, z, out) == 0;
    pthread_mutex_unlock(lock);
    return done;
}

bool mc_view_is_run(const mc_view *view) {
    const int64_t first = view->d ? mc_view_place(view, 0) : 0;
    for (int64_t j = 1; view->column && j < view->d; j++)
        if (mc_view_place(view, j) != first + j)
            return false;
    return true;
}

double mc_user_value(const mc_user *user, const mc_view *view, const double *x, const double *z) {
    double both[2][MC_USER_COLUMNS], out = NAN;
    const int64_t first = view->d ? mc_view_place(view, 0) : 0;
    if (mc_view_is_run(view))
        return mc_user_fill(user, view->d, 1, x + first, 1, z + first, &out) ? out : NAN;
    for (int64_t j = 0; j < view->d; j++) {
        both[0][j] = mc_view_at(view, x, j);
        both[1][j] = mc_view_at(view, z, j);
    }
    return mc_user_fill(user, view->d, 1, both[0], 1, both[1], &out) ? out : NAN;
}
