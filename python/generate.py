#!/usr/bin/env python3
"""generate.py HEADER OUT: the declarations of mercer.h as ctypes, so that nobody writes them twice.

The header is regular: typedef enum, typedef struct, MERCER_API functions and MERCER_DEFAULTS, which declares one; its inline functions are
left out. A struct that begins with its size has it from the start. A pointer that is not text travels as c_void_p: it costs
nothing, takes an address, byref() or None, and the header says what it must point to. tests/python/test_header.py compares sizes and
offsets with the compiler's."""
import re
import sys

NUMBERS = {"double": "c_double", "int": "c_int", "bool": "c_bool", "size_t": "c_size_t", "int64_t": "c_int64", "int32_t": "c_int32",
           "uint64_t": "c_uint64", "void": "None"}


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^[ \t]*#(\\\n|.)*$", "", text, flags=re.M)


def statuses(text):
    """number -> name, of the table that makes the enum mercer_status."""
    table = re.search(r"#define MERCER_STATUS_MAP\(X\)(.*?)\n\n", text, flags=re.S).group(1)
    return {int(number): name for name, number in re.findall(r"X\((\w+), (\d+),", table)}


def enums(code):
    """name -> its constants with their numbers."""
    found = re.findall(r"typedef enum (\w+) \{(.*?)\}", code, flags=re.S)
    return {name: re.findall(r"\b(MERCER_\w+) = (\d+)", body) for name, body in found if name != "mercer_status"}


def structs(code):
    code = re.sub(r"^struct (\w+) \{(.*?)\n\};", r"typedef struct \1 {\2\n} \1;", code, flags=re.S | re.M)
    return re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", code, flags=re.S)


class Types:
    def __init__(self, enum_names, struct_names):
        self.enums, self.structs = set(enum_names) | {"mercer_status"}, set(struct_names)

    def value(self, base):
        if base in self.enums:
            return "c_int"
        return base if base in self.structs else NUMBERS[base]

    def of(self, base, stars, returned=False):
        """The ctypes name of `base` with so many stars."""
        if stars == 0:
            return self.value(base)
        if base == "char":
            return "c_char_p" if stars == 1 else "POINTER(c_char_p)" if returned else "c_void_p"
        return f"POINTER({base})" if returned and base in self.structs else "c_void_p"


def split_type(text):
    """'const char *const *' -> ('char', 2)"""
    words = re.sub(r"\bconst\b|\bstruct\b", " ", text)
    return words.replace("*", " ").split()[0], words.count("*")


def fields(body, types):
    for line in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)", line)
        if pointer:
            yield pointer.group(1), "c_void_p"
            continue
        base = split_type(re.match(r"(const )?\w+", line).group(0))[0]
        for part in re.sub(r"^(const )?\w+", "", line, count=1).split(","):
            name, count = re.search(r"(\w+)(?:\[(\d+)\])?\s*$", part.strip()).groups()
            kind = "c_char" if base == "char" and count else types.of(base, part.count("*"))
            yield name, f"{kind} * {count}" if count else kind


def argument(text, types):
    if text.endswith("]"):
        return "c_void_p"
    text = re.sub(r"\w+$", "", text) if not text.endswith("*") else text
    return types.of(*split_type(text))


def functions(code, types):
    code = re.sub(r"^MERCER_DEFAULTS\((\w+), (\w+), \w+\)", r"MERCER_API void \2(\1 *set, size_t size);", code, flags=re.M)
    for result, name, inside in re.findall(r"MERCER_API\s+([\w\s*]+?)(mercer_\w+)\((.*?)\);", code, flags=re.S):
        inside = " ".join(inside.split())
        arguments = [] if inside == "void" else [argument(part.strip(), types) for part in inside.split(",")]
        yield name, types.of(*split_type(result), returned=True), arguments


def generate(text):
    code = without_comments(text)
    enum_rows, struct_rows = enums(code), structs(code)
    types = Types(enum_rows, [name for name, _ in struct_rows])
    out = ['"""Made from mercer.h by python/generate.py; do not edit."""',
           "from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64,",
           "                    c_void_p, sizeof)", "", f"STATUS = {statuses(text)!r}"]
    for name, constants in enum_rows.items():
        out += [f"{constant} = {number}" for constant, number in constants]
    for name, body in struct_rows:
        out += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        rows = list(fields(body, types))
        out += [f'        ("{field}", {kind}),' for field, kind in rows] + ["    ]"]
        if rows[0] == ("size", "c_size_t"):
            out += ["", "    def __init__(self, **values):", "        super().__init__(**values)", "        self.size = sizeof(self)"]
    out += ["", "", "FUNCTIONS = {"]
    out += [f'    "{name}": ({result}, [{", ".join(arguments)}]),' for name, result, arguments in functions(code, types)]
    return "\n".join(out) + "\n}\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header, open(sys.argv[2], "w", encoding="utf-8") as made:
        made.write(generate(header.read()))
