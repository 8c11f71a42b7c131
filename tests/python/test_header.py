"""The declarations made from mercer.h are those of the compiler."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from mercer import _header

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRUCTS = [value for value in vars(_header).values() if isinstance(value, type) and issubclass(value, ctypes.Structure)
           and value is not ctypes.Structure]


def layout_of(compiler, folder):
    """'name.field offset size' as the C compiler sees it."""
    source = pathlib.Path(folder, "layout.c")
    lines = [f'printf("{s.__name__}.{f} %zu %zu\\n", offsetof({s.__name__}, {f}), sizeof ((({s.__name__} *)0)->{f}));'
             for s in STRUCTS for f, _ in s._fields_]
    lines += [f'printf("{s.__name__} 0 %zu\\n", sizeof({s.__name__}));' for s in STRUCTS]
    source.write_text("#include <mercer.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
    program = os.path.join(folder, "layout")
    subprocess.run([compiler, "-I", str(ROOT / "include"), str(source), "-o", program], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")


class Header(unittest.TestCase):
    def test_every_struct_lies_in_memory_as_in_c(self):
        compiler = shutil.which(os.environ.get("CC", "cc").split()[-1]) or shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        ours = [f"{s.__name__}.{f} {getattr(s, f).offset} {getattr(s, f).size}" for s in STRUCTS for f, _ in s._fields_]
        ours += [f"{s.__name__} 0 {ctypes.sizeof(s)}" for s in STRUCTS]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(ours, layout_of(compiler, folder)[:-1])
        self.assertGreater(len(STRUCTS), 20)

    def test_every_function_of_the_header_is_declared(self):
        text = (ROOT / "include/mercer.h").read_text()
        declared = len(re.findall(r"^MERCER_(?:API|DEFAULTS\()", text, flags=re.M))
        self.assertEqual(len(_header.FUNCTIONS), declared)
