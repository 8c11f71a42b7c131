/* tile_body.inc.c: all tile bodies of one precision; tile_body.c sets BITS and F. */
#include ISA_HEADER
#include "math.inc.c"
#include "statistic.inc.c"
#include "step.inc.c"
#include "product.inc.c"
#include "sparse.inc.c"
#include "alignment.inc.c"
#include "dot_uint8.inc.c"

enum { F(rows) = ROWS, F(columns) = COLUMNS, F(lanes) = LANES };
