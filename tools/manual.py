#!/usr/bin/env python3
"""manual.py [--check]: docs/api.md from include/mercer.h: its comments as text, its declarations as code, section by section in its order,
the examples that use a call, and an index. --check: whether the file is the one that would be written."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER, PAGE = ROOT / "include/mercer.h", ROOT / "docs/api.md"
SECTION = re.compile(r"^/\* ---- (.+?) -+ \*/$")
TYPE = re.compile(r"^\} (mercer_\w+);|^typedef (?:struct|enum) (mercer_\w+) mercer_\w+;|^typedef enum (mercer_\w+) \{.*\} mercer_\w+;", re.M)
CALL = re.compile(r"^(?:const )?\w[\w ]*?[ *]+(mercer_\w+)\(", re.M)
MACRO = re.compile(r"^#define (MERCER_\w+)", re.M)


def groups(lines):
    """(comment, code) pairs: a comment at the margin and what follows it up to the next one, or to an empty line outside of braces."""
    comment, code, depth, out = "", [], 0, []

    def close():
        nonlocal comment, code
        if comment or code:
            out.append((comment, "\n".join(code)))
        comment, code = "", []

    at = 0
    while at < len(lines):
        line = lines[at]
        if depth == 0 and line.startswith("/*"):
            close()
            end = next(k for k in range(at, len(lines)) if "*/" in lines[k])
            comment, at = "\n".join(lines[at:end + 1]), end
        elif depth == 0 and not line.strip():
            close()
        else:
            code.append(line)
            bare = re.sub(r"/\*.*?\*/", "", line)
            depth += bare.count("{") - bare.count("}")
        at += 1
    close()
    return out


def prose(comment):
    """The comment as paragraphs; what is indented by more than the text stays as it is, in a block."""
    lines = [re.sub(r"^( {3})", "", line) for line in re.sub(r"^/\* ?|\s*\*/$", "", comment).split("\n")]
    out, block = [], []
    for line in lines + [""]:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line)
            continue
        if block:
            out += ["", "```", *"\n".join(block).rstrip().split("\n"), "```", ""]
            block = []
        out.append(escape(line))
    if block:
        out += ["", "```", *"\n".join(block).rstrip().split("\n"), "```"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def escape(line):
    """Names of the interface as code, everything else as it reads in the header."""
    parts = re.split(r"\b((?:mercer|MERCER)_\w+)\b", line)
    return "".join(f"`{part}`" if k % 2 else re.sub(r"([*_<|`])", r"\\\1", part) for k, part in enumerate(parts))


def names(code):
    types = [a or b or c for a, b, c in TYPE.findall(code)]
    return list(dict.fromkeys(types + CALL.findall(code) + MACRO.findall(code)))


def users(found, examples):
    return [path for path, text in examples if any(re.search(rf"\b{name}\(", text) for name in found)]


def entry(comment, code, examples):
    code = re.sub(r"^MERCER_API ", "", code, flags=re.M)
    found = names(code)
    title = ", ".join(f"`{name}`" for name in found[:3]) + (", ..." if len(found) > 3 else "")
    parts = ["".join(f'<a id="{name}"></a>' for name in found) + f"\n### {title}" if found else "", prose(comment),
             f"```c\n{code}\n```" if code else ""]
    used = users(found, examples)
    if used:
        parts.append("In " + ", ".join(f"[{path}](../{path})" for path in used[:4]) + ".")
    return "\n\n".join(part for part in parts if part), found


def sections(text):
    """[(name, lines)], the first without a name: what stands before."""
    out = [("", [])]
    for line in text.split("\n"):
        match = SECTION.match(line)
        if match:
            out.append((match[1], []))
        elif not re.match(r"#(ifdef|ifndef|if|else|endif|include|define MERCER_(H|API)\b)|extern \"C\"|\}$", line) or out[-1][0] == "":
            out[-1][1].append(line)
    return out


def page():
    examples = [(str(path.relative_to(ROOT)), path.read_text()) for path in sorted((ROOT / "examples").glob("*.c"))]
    (_, top), *rest = sections(HEADER.read_text())
    out = ["# The C interface", "Made from [include/mercer.h](../include/mercer.h) by `tools/manual.py`; the header is the manual, this is the same to read "
           "in a browser.", prose(groups(top)[0][0])]
    out.append("Sections: " + " · ".join(f"[{name}](#{name.lower()})" for name, _ in rest) + " · [Index](#index)")
    index = {}
    for name, lines in rest:
        out.append(f"## {name}")
        for comment, code in groups(lines):
            text, found = entry(comment, code, examples)
            out.append(text)
            index.update({one: name for one in found})
    out += ["## Index", " · ".join(f"[{name}](#{name})" for name in sorted(index))]
    return "\n\n".join(out) + "\n"


def main(*rest):
    text = page()
    if "--check" not in rest:
        PAGE.write_text(text)
        return False
    current = PAGE.exists() and PAGE.read_text() == text
    print("docs/api.md is that of include/mercer.h" if current else "docs/api.md is not that of include/mercer.h: run python3 tools/manual.py")
    return not current


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
