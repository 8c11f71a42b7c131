#!/usr/bin/env python3
"""docs.py MERCER FILE.md... [--update]: the commands shown in the documentation give what is shown.

A fenced block marked `console` holds commands after `$ ` and what they print; those of one file run in order in one empty folder, with
examples/ beside it. A line `...` stands for any lines. A block marked `c` after a comment <!-- path --> is that file of the repository. What
varies from run to run is put in neutral form as in tests/cli/run.py. --update writes what was seen into the files, and draws the pictures they
show: NAME.png beside a file that mentions it, by the command of the file that makes NAME.svg."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
SOURCE = re.compile(r"^<!-- (\S+\.c) -->\n```c\n(.*?)^```$", re.M | re.S)


def load_neutral():
    spec = importlib.util.spec_from_file_location("run", ROOT / "tests/cli/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.neutral


def commands(block):
    """[command, expected output] pairs; a command continues while its line ends in a backslash."""
    pairs = []
    for line in block.splitlines(True):
        if line.startswith("$ "):
            pairs.append([line[2:], ""])
        elif pairs and not pairs[-1][1] and pairs[-1][0].endswith("\\\n"):
            pairs[-1][0] += line
        else:
            pairs[-1][1] += line
    return pairs


def matches(wanted, seen):
    """Equal, where a line '...' of wanted stands for any lines."""
    pattern = "".join(r"(?s:.*)" if line == "...\n" else re.escape(line) for line in wanted.splitlines(True))
    return re.fullmatch(pattern, seen) is not None


def run_block(block, folder, environment, neutral, update):
    """The block as it should be written, and what is wrong with it."""
    text, faults = "", []
    for command, wanted in commands(block):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        seen = done.stdout.decode("utf-8", "replace").replace(folder, ".")
        fits = matches(neutral(wanted, folder), neutral(seen, folder))
        if not fits:
            faults.append(f"$ {command}--- shown\n{wanted}--- seen\n{seen}")
        text += f"$ {command}{wanted if fits or not update else seen}"
    return text, faults


def draw_pictures(path, text, folder, environment):
    for command in re.findall(r"^\$ (mercer plot .*)$", text, re.M):
        name = re.search(r"-o ([\w-]+)\.svg", command)
        if name and f"({name[1]}.png)" in text:
            subprocess.run(["bash", "-c", command.replace(f"{name[1]}.svg", f"{name[1]}.png")], cwd=folder, env=environment, check=True)
            shutil.copy(pathlib.Path(folder) / f"{name[1]}.png", path.parent / f"{name[1]}.png")


def check_sources(path, text):
    return [f"{path}: the block after <!-- {name} --> differs from {name}" for name, body in SOURCE.findall(text)
            if (ROOT / name).read_text() != body]


def paste_sources(text):
    return SOURCE.sub(lambda m: f"<!-- {m[1]} -->\n```c\n{(ROOT / m[1]).read_text()}```", text)


def anchors(text):
    """What a link may point to: names given by hand, and headings as they are known to a browser."""
    headings = [re.sub(r"[^\w\- ]", "", re.sub(r"`", "", h)).strip().lower().replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, re.M)]
    return set(headings) | set(re.findall(r'<a id="([^"]+)">', text))


def check_links():
    """Links between the documents lead somewhere."""
    faults = []
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("bench/*.md")]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            name, _, place = target.partition("#")
            other = (path.parent / name) if name else path
            if target.startswith("http"):
                continue
            if not other.exists() or (place and other.suffix == ".md" and place not in anchors(other.read_text())):
                faults.append(f"{path.relative_to(ROOT)}: the link to {target} leads nowhere")
    return faults


def check(path, environment, neutral, update):
    text = path.read_text()
    text = paste_sources(text) if update else text
    faults = check_sources(path, text)
    with tempfile.TemporaryDirectory(prefix="mercer-docs-") as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        for found in list(BLOCK.finditer(text)):
            block, wrong = run_block(found[1], folder, environment, neutral, update)
            faults += [f"{path.name}: {w}" for w in wrong]
            text = text.replace(found[0], f"```console\n{block}```")
        if update:
            draw_pictures(path, text, folder, environment)
    if update:
        path.write_text(text)
        return []
    return faults


def main(mercer, *rest):
    mercer, update = pathlib.Path(mercer).resolve(), "--update" in rest
    environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=f"{mercer.parent}:{os.environ['PATH']}")
    paths = [pathlib.Path(p).resolve() for p in rest if not p.startswith("--")]
    faults = check_links() + [f for path in paths for f in check(path, environment, load_neutral(), update)]
    print("\n".join(faults) or "the documentation shows what happens")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
