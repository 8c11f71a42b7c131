/* attached.h: what was computed of the rows of a table, once, for all tables that are taken from it. Whoever computed
   it empties it when nobody needs it any more; the shell goes with the last table. */
#ifndef MC_DATA_TABLE_ATTACHED_H
#define MC_DATA_TABLE_ATTACHED_H

#include <stdatomic.h>

typedef struct mc_attached {
    atomic_int owners;
    void (*close)(struct mc_attached *attached);
} mc_attached;

static inline mc_attached *mc_attached_share(mc_attached *attached) {
    if (attached)
        atomic_fetch_add(&attached->owners, 1);
    return attached;
}

static inline void mc_attached_release(mc_attached *attached) {
    if (attached && atomic_fetch_sub(&attached->owners, 1) == 1)
        attached->close(attached);
}

#endif
