/* tile.c: the tables of tile bodies by instruction set. */
#include "backend/tile.h"

static const mc_tile_ops *const tables[MC_ISA_COUNT] = {
    [MC_PORTABLE] = mc_tile_portable,
#if defined(__x86_64__)
    [MC_AVX2] = mc_tile_avx2,
    [MC_AVX512] = mc_tile_avx512,
#endif
};

const mc_tile_ops *mc_tile(mc_isa isa, mercer_dtype precision) {
    return &tables[isa][precision];
}
