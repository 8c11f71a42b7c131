#!/usr/bin/env python3
"""house.py ROOT: what the guide, the glossary and the comments point to exists.

    docs/house.md, docs/glossary.md   every file, folder, function and variable in backquotes; "`f` in `file.c`", "`f` of" and "`f` (" as well
                                      stand in that very file; every folder of src stands in the picture, in the order that tools/layers.py has
    comments of C files               every file they name, one of another room with its folder
"""
import pathlib
import re
import sys

from layers import ROOMS

DOCS = ("docs/house.md", "docs/glossary.md")
FILE = re.compile(r"^[\w./+-]+\.(?:c|h|py|md|inc|sh|build|txt|csv)$")
FOLDER = re.compile(r"^[a-z]\w*(?:/\w+)+/?$")
NAME = re.compile(r"^(?:mc|mercer|MC|MERCER)_\w+$|^[a-z]+_\w+$")
PLACED = re.compile(r"`(\w+)`(?:,[^`|]*)? (?:in|of) (?:the same file|`([\w./]+\.[ch])`)|`(\w+)` \(`([\w./]+\.[ch])`\)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAMED = re.compile(r"(?<![\w/.<-])((?:[\w-]+/)*[a-z][\w-]*(?:\.inc)?\.[ch])\b(?!\w)")
OURS = {"mercer.h"}  # known to every room
BUILT = re.compile(r"^(build|bench/results|build-\w+)(/|$)")


class House:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        folders = ("src", "tests", "bench", "examples", "include", "python", "tools", "completion")
        self.files = [f for folder in folders for f in (self.root / folder).rglob("*") if f.is_file()]
        self.base = {f.name for f in self.files}
        self.text = {f: f.read_text() for f in self.files if f.suffix in (".c", ".h", ".py")}
        self.words = set(re.findall(r"\w+", "\n".join(self.text.values()))) | {f.stem for f in self.files}
        self.tests = set(re.findall(r"'(\w+/\w+)'", "\n".join(f.read_text() for f in self.files if f.name == "meson.build")))

    def place(self, name):
        """The file or folder of that name, or None."""
        return next((p for p in (self.root / name, self.root / "src" / name, self.root / "docs" / name) if p.exists()), None)

    def fault(self, word):
        """What is wrong with a word in backquotes, or None."""
        if BUILT.match(word) or "*" in word or "NAME" in word:
            return None
        if FILE.match(word) and ("/" in word or word.endswith((".c", ".h"))):
            return None if self.place(word) else "no such file"
        if FOLDER.match(word):
            return None if self.place(word) or word in self.tests else "no such folder or test"
        return None if not NAME.match(word) or word in self.words else "nothing has that name"

    def faults_of_page(self, page):
        for number, line in enumerate((self.root / page).read_text().splitlines(), 1):
            for quoted in re.findall(r"`([^`]+)`", line):
                for word in quoted.split():
                    why = self.fault(word.rstrip(",;:"))
                    if why:
                        yield f"{page}:{number}: `{word}`: {why}"
            last = None
            for f, file, g, other in PLACED.findall(line):
                last = self.place(file or other) or last
                if last and last.is_file() and not re.search(rf"\b{f or g}\b", last.read_text()):
                    yield f"{page}:{number}: `{f or g}` does not stand in {last.relative_to(self.root)}"

    def faults_of_picture(self, page):
        picture = (self.root / page).read_text().split("```")[1]
        shown = re.findall(r"^  (\w+)/ ", picture, re.M)
        if shown != ROOMS:
            yield f"{page}: the picture has {' '.join(shown)}; tools/layers.py: {' '.join(ROOMS)}"
        for room in ROOMS:
            for folder in sorted(p.name for p in (self.root / "src" / room).iterdir() if p.is_dir()):
                if not re.search(rf"\b{folder}/", picture):
                    yield f"{page}: src/{room}/{folder} is not in the picture"

    def is_there(self, file, name):
        """Whether a comment of that file may call a file so."""
        if "/" in name or file.parts[len(self.root.parts)] != "src":
            return name.split("/")[-1] in self.base and (file.parts[len(self.root.parts)] != "src" or bool(self.place(name)))
        room = self.root / "src" / file.parts[len(self.root.parts) + 1]
        return name in OURS or any(room.rglob(name))

    def faults_of_comments(self):
        for file, text in self.text.items():
            if file.suffix not in (".c", ".h"):
                continue
            for comment in COMMENT.finditer(text):
                for name in NAMED.findall(comment.group(0)):
                    if not self.is_there(file, name):
                        number = text.count("\n", 0, comment.start()) + 1
                        yield f"{file.relative_to(self.root)}:{number}: the comment names {name}, which is not there"


def main(root):
    house = House(root)
    faults = [fault for page in DOCS for fault in house.faults_of_page(page)]
    faults += list(house.faults_of_picture(DOCS[0])) + list(house.faults_of_comments())
    print("\n".join(faults) or "the house is as the guide says")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
