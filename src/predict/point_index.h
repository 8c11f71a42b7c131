/* point_index.h: the centres of a search for the nearest by Euclidean distance, made ready once: coordinates weighed,
   taken less a point m in their midst, divided by a power of two above the largest of their norms, and rounded to
   floats, in panels (backend/nearest.h).

   Of equal distances the earlier row is the nearer, so of rows that are the same bytes only the first k can be among
   the k nearest: the others are left out, and however many copies there are, few points are as near as each other.

   Of few columns the points stand in the order of a k-d tree, whose leaves are the panels. */
#ifndef MC_PREDICT_POINT_INDEX_H
#define MC_PREDICT_POINT_INDEX_H

#include "backend/nearest.h"
#include "base/workspace.h"
#include <mercer.h>

typedef struct mc_point_index {
    int64_t d, k;
    int64_t points, panels; /* that are kept */
    double *weight, *mean;  /* d */
    double scale, reach;    /* a power of two; the largest norm after it */
    int32_t *at;            /* the row of each point */
    float *z, *norm;        /* panels */
    float *box;             /* nodes; NULL: there is no tree, and points stand in the order of rows */
    int32_t *axis;          /* of every node, where its halves part */
    float *cut;
    mc_work work;
} mc_point_index;

/* Dense rows and a kernel that falls with the Euclidean distance, weight by weight (mc_is_euclidean). */
mercer_status mc_point_index_open(mercer_ctx *ctx, const double *weight, const mercer_data *centres, int64_t k,
                                  mc_point_index **out);
void mc_point_index_close(mc_point_index *index);
/* Bytes that it takes, those in the making included. */
size_t mc_point_index_bytes(mercer_ctx *ctx, int64_t n, int64_t d);
/* A row of the data as it is to the points: u = scale weight (row - m), and its norm. */
double mc_point_of_row(const mc_point_index *index, const double *row, double *u);
/* The panel in whose part of space a point lies; 0 without a tree. */
int64_t mc_point_panel(const mc_point_index *index, const double *u);

#endif
