/* print_hook.c: see print_hook.h. The function is one for the process, as the interface has it. */
#include "libsvm/print_hook.h"
#include "base/print.h"
#include "libsvm/svm_abi.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

typedef void print_function(const char *text);

static void print_to_output(const char *text) {
    fputs(text, stdout);
    fflush(stdout);
}

static _Atomic(print_function *) print_hook = print_to_output;

void svm_set_print_string_function(void (*print)(const char *)) {
    atomic_store(&print_hook, print ? print : print_to_output);
}

void mc_svm_say(const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    mc_vprint(text, sizeof text, format, args);
    va_end(args);
    atomic_load (&print_hook)(text);
}
