/* helpers.h: what the command borrows from the library beside mercer.h: whole files, numbers as text and tables of
   them, NumPy files, the nearest of some names, the word to OpenBLAS. tools/layers.py lets it see this header and no
   other. */
#ifndef MC_DATA_HELPERS_H
#define MC_DATA_HELPERS_H

#include "base/cpu.h"
#include "base/file.h"
#include "base/number.h"
#include "base/suggest.h"
#include "data/csv/csv_numbers.h"
#include "data/npy/npy_write.h"

#endif
