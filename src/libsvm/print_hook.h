/* print_hook.h: what LIBSVM tells while it trains, by the function the program has set, or to standard output. */
#ifndef MC_LIBSVM_PRINT_HOOK_H
#define MC_LIBSVM_PRINT_HOOK_H

void mc_svm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
