/* checking_device.h: the processor posing as a device. Its addresses are no pointers, so that whoever reads memory of
   the device falls over; every copy is held to its block; programs are the source that a card would get, compiled by
   the C compiler and run thread by thread; any call can be made to fail. */
#ifndef MC_TESTS_GRAM_CHECKING_DEVICE_H
#define MC_TESTS_GRAM_CHECKING_DEVICE_H

#include "backend/device_dense.h"

/* Whether a C compiler is here to compile programs with. */
bool checking_device_works(void);
const mc_device_calls *checking_device_calls(void);
/* The call that comes after so many more fails, as if the device were full; negative: none does. */
void checking_device_fail_after(int calls);
/* Whether it has. */
bool checking_device_failed(void);
/* Openings that have begun and not ended. */
int checking_device_openings(void);
/* Blocks that are still held. */
int checking_device_blocks(void);
/* What an address stands for, held to its block; whether this call is the one that fails. */
char *checking_device_pointer(mc_address at, size_t bytes);
bool checking_device_fails(void);
/* checking_dense.c: by BLAS and LAPACK. */
extern const mc_device_dense_calls checking_device_dense;

/* The device that tests compute on: the checking one, or the card that MERCER_TEST_DEVICE names (make test-gpu). With
   attach it is that of the context, which closes it, for work of any size. */
mc_device *open_test_device(mercer_ctx *ctx);
mc_device *attach_test_device(mercer_ctx *ctx);
bool on_a_card(void);

#endif
