#!/usr/bin/env python3
"""page.py COMMAND: pages of mercer report are whole: every tag is closed, nothing is fetched from elsewhere, pictures are pictures, the page
says what the model says, and the command it gives makes the model again, byte for byte (gp learns on from what it has learned). A browser
looks too, where there is one."""
import base64
import html.parser
import os
import pathlib
import re
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


def in_a_browser(path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "firefox"))), None)
    if browser is None or "firefox" in browser:
        print("skipped: no chromium to look at the page with")
        return 0
    seen = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"file://{path}"], capture_output=True,
                          text=True, timeout=120)
    return int("</figure>" not in seen.stdout)


CASES = [  # generator, machine, kernel, extra options of fit, pictures, what the page must say
    ("moons", "svc", "rbf(gamma=2)", [], 4, ["twin, its dual", "is a kernel", "accuracy"]),
    ("sinc", "gp", "rbf(gamma=0.3)", [], 4, ["Pictures", "curve", "RMSE"]),
    ("friedman1", "ridge", "rbf(gamma=0.5) + linear", ["--lambda", "0.1", "--intercept"], 3, ["every prediction is within", "residuals"]),
    ("blobs", "logistic", "linear", ["--scale", "standard"], 3, ["calibration", "log loss"]),
    ("swissroll", "pca", "rbf(gamma=0.01)", [], 3, ["eigenvalue", "scatter"]),
]


def main(command):
    command, failed = os.path.abspath(command), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for generator, machine, kernel, extra, pictures, says in CASES:
            run(command, "generate", generator, "-n", "60", "-q", "-o", "a&b.csv")
            run(command, "fit", "a&b.csv", "-m", machine, "-k", kernel, *extra, "-q", "-o", "a&b.mercer")
            run(command, "report", "a&b.mercer", "a&b.csv", "-o", "page.html")
            count, words = check(machine, "page.html", pictures, says)
            first = pathlib.Path("page.html").read_bytes()
            run(command, "report", "a&b.mercer", "a&b.csv", "-o", "page.html", "--threads", "1")
            count += first != pathlib.Path("page.html").read_bytes()
            again = re.search(r"mercer (fit DATA .*)", words).group(1).replace("DATA", "'a&b.csv'").replace("-o a&b.mercer", "-o again.mercer")
            subprocess.run(f"{command} {again} -q", shell=True, check=True)
            if machine != "gp" and pathlib.Path("again.mercer").read_bytes() != pathlib.Path("a&b.mercer").read_bytes():
                print(f"{machine}: the command of the page makes another model: {again}")
                count += 1
            failed += count
        run(command, "report", "a&b.mercer")
        failed += check("without rows", "a&b.html", 0, ["is a kernel"])[0] + in_a_browser(os.path.abspath("page.html"))
    print(f"{failed} failed")
    return bool(failed)


sys.exit(main(sys.argv[1]))
