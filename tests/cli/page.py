#!/usr/bin/env python3
"""page.py COMMAND: pages of mercer report are whole: every tag is closed, nothing is fetched from elsewhere, pictures are pictures, the page
says what the model says, and the command it gives makes the model again, byte for byte (gp learns on from what it has learned). Where there is
a chromium, it looks too: all sections and pictures are there to be seen, wide and narrow, nothing is asked for and nothing complained of."""
import base64
import html.parser
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

VOID = {"meta", "img", "br", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.words, self.pictures = [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action"):
                if not value.startswith("data:image/svg+xml;base64,"):
                    self.wrong.append(f"<{tag} {name}={value[:60]}> reaches outside")
                self.pictures.append(base64.b64decode(value.split(",", 1)[1], validate=True))
        if tag in ("script", "iframe", "link"):
            self.wrong.append(f"<{tag}> has no place here")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.words.append(data)


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def check(name, path, pictures, says):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    page = Page(text)
    words = "".join(page.words)
    for picture in page.pictures:
        xml.dom.minidom.parseString(picture)
    wrong = page.wrong + [f"'{sentence}' is not said" for sentence in says if sentence not in words]
    if len(page.pictures) != pictures:
        wrong.append(f"{len(page.pictures)} pictures, {pictures} expected")
    for sentence in wrong:
        print(f"{name}: {sentence}")
    return len(wrong), words


# Stands in a page of its own with the pages in frames, wide and narrow as a telephone, and writes down what a browser made of them.
LOOK = """<script>
const seen = [];
addEventListener('error', e => seen.push({error: String(e.message)}));
addEventListener('load', () => {
    for (const frame of document.querySelectorAll('iframe')) {
        const page = frame.contentDocument, all = q => [...page.querySelectorAll(q)];
        seen.push({name: frame.title, wide: frame.clientWidth, needs: page.documentElement.scrollWidth, mode: page.compatMode,
                   sections: all('h2').filter(h => h.clientHeight > 10).map(h => h.textContent),
                   pictures: all('img').map(i => [i.naturalWidth, i.clientWidth, i.clientHeight, i.complete]),
                   fetched: frame.contentWindow.performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:'))});
    }
    const out = document.createElement('pre');
    out.id = 'seen';
    out.textContent = JSON.stringify(seen);
    document.body.replaceChildren(out);
});
</script>"""
SECTIONS = ["The fit", "How sure it is", "The kernel", "The rows", "Pictures", "To make it again"]


def wrong_in(frame, pictures):
    yield from ("its markup is not taken for the standard's",) if frame["mode"] != "CSS1Compat" else ()
    yield from (f"{frame['needs']} pixels wide in a window of {frame['wide']}",) if frame["needs"] > frame["wide"] else ()
    yield from (f"section '{s}' is not to be seen" for s in SECTIONS if s not in frame["sections"])
    yield from (f"fetches {name[:80]}" for name in frame["fetched"])
    yield from (f"a picture of {p}" for p in frame["pictures"] if not p[3] or min(p[:3]) < 100 or p[1] > frame["wide"])
    if len(frame["pictures"]) != pictures:
        yield f"{len(frame['pictures'])} pictures, {pictures} expected"


def in_a_browser(pages):
    """pages: {name: (text, pictures)}. A browser must show all of each, in 1000 pixels and in 400, without asking anyone for anything."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("skipped: no chromium to look at the pages with")
        return 0
    frames = "".join(f'<iframe title="{name}" style="width:{wide}px;height:900px;border:0" srcdoc="{html.escape(text)}"></iframe>'
                     for name, (text, _) in pages.items() for wide in (1000, 400))
    pathlib.Path("look.html").write_text(f"<!DOCTYPE html><html><head>{LOOK}</head><body>{frames}</body></html>", encoding="utf-8")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
                           "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--user-data-dir=browser", "--dump-dom",
                           f"file://{os.path.abspath('look.html')}"], capture_output=True, text=True, timeout=240)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
    wrong = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if not found:
        wrong.append(f"nothing was shown: {done.stderr[-300:]}")
    seen = json.loads(html.unescape(found[1])) if found else []
    for frame in seen:
        wrong += [f"{frame['name']}, {frame['wide']} wide: {w}" for w in wrong_in(frame, pages[frame["name"]][1])] if "name" in frame else [str(frame)]
    if found and len(seen) != 2 * len(pages):
        wrong.append(f"{len(seen)} frames of {2 * len(pages)}")
    print("\n".join(f"in a browser: {w}" for w in wrong) or f"a browser shows {len(pages)} pages, wide and narrow")
    return len(wrong)


CASES = [  # generator, machine, kernel, extra options of fit, pictures, what the page must say
    ("moons", "svc", "rbf(gamma=2)", [], 4, ["has a dual problem", "is a kernel", "accuracy"]),
    ("sinc", "gp", "rbf(gamma=0.3)", [], 4, ["Pictures", "curve", "RMSE"]),
    ("friedman1", "ridge", "rbf(gamma=0.5) + linear", ["--lambda", "0.1", "--intercept"], 3, ["every prediction is within", "residuals"]),
    ("blobs", "logistic", "linear", ["--scale", "standard"], 3, ["calibration", "log loss"]),
    ("swissroll", "pca", "rbf(gamma=0.01)", [], 3, ["eigenvalue", "scatter"]),
]


DATA, MODEL = "a & b's.csv", "a & b's.mercer"


def makes_the_model(command, machine, words):
    """The command of the page, as a shell reads it, with this data: the same model, byte for byte."""
    again = shlex.split(re.search(r"^mercer (fit DATA .*)$", words, re.M).group(1))
    assert again[-1] == MODEL and shlex.split(re.search(r"^mercer (report .*)$", words, re.M).group(1)) == ["report", MODEL, DATA], again
    run(command, *[{"DATA": DATA, MODEL: "again.mercer"}.get(word, word) for word in again], "-q")
    if machine == "gp" or pathlib.Path("again.mercer").read_bytes() == pathlib.Path(MODEL).read_bytes():
        return 0
    print(f"{machine}: the command of the page makes another model: {again}")
    return 1


def main(command):
    command, failed, pages = os.path.abspath(command), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for generator, machine, kernel, extra, pictures, says in CASES:
            run(command, "generate", generator, "-n", "60", "-q", "-o", DATA)
            run(command, "fit", DATA, "-m", machine, "-k", kernel, *extra, "-q", "-o", MODEL)
            run(command, "report", MODEL, DATA, "-o", "page.html")
            count, words = check(machine, "page.html", pictures, says)
            first = pathlib.Path("page.html").read_bytes()
            pages[machine] = first.decode(), pictures
            run(command, "report", MODEL, DATA, "-o", "page.html", "--threads", "1")
            count += first != pathlib.Path("page.html").read_bytes()
            failed += count + makes_the_model(command, machine, words)
        run(command, "report", MODEL)
        failed += check("without rows", MODEL.replace(".mercer", ".html"), 0, ["is a kernel"])[0] + in_a_browser(pages)
    print(f"{failed} failed")
    return bool(failed)


sys.exit(main(sys.argv[1]))
