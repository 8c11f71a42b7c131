/* checking_device.h: the processor posing as a device. Its addresses are no pointers, so that whoever reads memory of
   the device falls over; every copy is held to its block; programs are the source that a card would get, compiled by
   the C compiler and run thread by thread; any call can be made to fail. */
#ifndef MC_TESTS_GRAM_CHECKING_DEVICE_H
#define MC_TESTS_GRAM_CHECKING_DEVICE_H

#include "backend/device.h"

/* Whether a C compiler is here to compile programs with. */
bool checking_device_works(void);
const mc_device_calls *checking_device_calls(void);
/* The call that comes after so many more fails, as if the device were full; negative: none does. */
void checking_device_fail_after(int calls);
/* Blocks that are still held. */
int checking_device_blocks(void);

#endif
