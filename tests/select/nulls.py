#!/usr/bin/env python3
"""nulls.py HEADER: a C test on standard output that calls every public function of HEADER with NULL in place of each pointer in turn, the
others being good. A call that returns a status says MERCER_INVALID and names the argument, unless OPTIONAL has it: then it must not crash.
Functions that return something else must not crash either."""
import re
import sys

# NULL means something here: the defaults, none, or all.
OPTIONAL = {
    ("mercer_open", "options"), ("mercer_data_read", "set"), ("mercer_model_read", "set"), ("mercer_data_take", "rows"),
    ("mercer_data_folds", "groups"), ("mercer_kernel_parse_with", "users"), ("mercer_model_load_with", "users"), ("mercer_gram", "other"),
    ("mercer_gram_apply", "other"), ("mercer_fit_folds", "variances"), ("mercer_fit_folds", "rmse"), ("mercer_model_to_memory", "bytes"),
    ("mercer_gram_prove", "weights"), ("mercer_score_classes", "confusion"),
}
ELSEWHERE = {("mercer_data_write", "path")}  # NULL is standard output, which is the record of the tests
ALWAYS_OPTIONAL = {"set", "settings"}  # NULL: the defaults
WORDS = {"machine": "ridge", "format": "c", "path": None, "name": "lambda", "text": "rbf(gamma=1)"}
NAMES = {"mercer_data_generate": {"name": "moons"}, "mercer_settings_put": {"text": "1"}, "mercer_svm_init": {"machine": "svc"},
         "mercer_loss_init": {"machine": "logistic"}, "mercer_machine_find": {"name": "ridge"}}
FREED = ("data", "kernel", "model", "proof", "posterior", "search")


def functions(header):
    text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
    text = re.sub(r"^MERCER_DEFAULTS\((\w+), (\w+), \w+\)", r"MERCER_API void \2(\1 *set, size_t size);", text, flags=re.M)
    for line in re.findall(r"^MERCER_API ([^;#]+);", text, flags=re.M):
        result, name, parameters = re.match(r"(.*?)(mercer_\w+)\((.*)\)$", " ".join(line.split())).groups()
        yield result.strip(), name, [p.strip() for p in parameters.split(",") if p.strip() != "void"]


def split(parameter):
    """(type, name) of 'const double *x', of 'char text[32]'."""
    parameter = re.sub(r"(\w+)\[\d*\]$", r"*\1", parameter)
    kind, name = re.match(r"(.*?)(\w+)$", parameter).groups()
    return kind.strip(), name


def good(function, kind, name, place):
    base = kind.replace("const ", "").strip()
    if base == "char *" and kind.startswith("const"):
        word = NAMES.get(function, {}).get(name, WORDS.get(name, "x"))
        return "f.path" if word is None else f'"{word}"'
    if base == "mercer_ctx *":
        return "f.ctx"
    match = re.match(r"mercer_(\w+) \*$", base)
    if match and f"mercer_{match[1]}" in {"mercer_data", "mercer_kernel", "mercer_model", "mercer_proof", "mercer_posterior", "mercer_search"}:
        return f"f.{match[1]}"
    if base.endswith("**"):
        return f"({kind})&f.out"
    if base == "void *" and name == "settings":
        return "f.settings"
    if base.endswith("*"):
        return f"({kind})f.room[{place}]"
    return {"size_t": "8", "int": "0", "mercer_dtype": "MERCER_F64", "double": "0.25"}.get(kind, "2" if name in ("k", "d", "n", "count") else "0")


def sets(kind):
    """The defaults of a settings struct, for a parameter called set."""
    base = kind.replace("const ", "").replace("*", "").strip()
    return f"{base}_defaults()", base


def case(result, function, parameters, at):
    arguments, before = [], ""
    for i, (kind, name) in enumerate(parameters):
        value = good(function, kind, name, i)
        if name == "set" and kind.startswith("const") and i != at:
            made, base = sets(kind)
            before, value = f"    const {base} set = {made};\n", "&set"
        arguments.append("NULL" if i == at else value)
    call = f"{function}({', '.join(arguments)})"
    name = parameters[at][1]
    optional = (function, name) in OPTIONAL or (name in ALWAYS_OPTIONAL and function != "mercer_settings_put")
    if result != "mercer_status":
        return before + f"    {'' if result == 'void' else '(void)'}{call};\n"
    if optional:
        return before + f"    (void){call};\n"
    made = function == "mercer_open" or name == "ctx"
    check = "assert_int_equal(status, MERCER_INVALID);\n"
    words = "" if made else f'    assert_named("{function}", "{name}");\n'
    return before + f"    const mercer_status status = {call};\n    {check}{words}"


def main(header):
    tests, bodies = [], []
    for result, function, parameters in functions(header):
        parameters = [split(p) for p in parameters]
        for at, (kind, name) in enumerate(parameters):
            if "*" not in kind or (function, name) in ELSEWHERE:
                continue
            test = f"{function}_with_{name}_NULL"
            freed = [t for t in FREED if parameters[-1][0] == f"mercer_{t} **" and at != len(parameters) - 1]
            after = f"    mercer_{freed[0]}_free(f.out);\n    f.out = NULL;\n" if freed else "    mercer_close(f.out);\n    f.out = NULL;\n"
            bodies.append(f"static void {test}(void **state) {{\n    (void)state;\n{case(result, function, parameters, at)}{after}}}\n")
            tests.append(f"        cmocka_unit_test({test}),")
    print('#include "select/nulls.h"\n')
    print("\n".join(bodies))
    print("int main(void) {\n    const struct CMUnitTest tests[] = {")
    print("\n".join(tests))
    print("    };\n    return cmocka_run_group_tests(tests, make, unmake);\n}")


main(sys.argv[1])
