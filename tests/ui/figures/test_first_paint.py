"""The pages draw their first, stored runs without torch."""

import subprocess
import sys

from tests.ui.conftest import ROOT

# Script, the figure that goes ahead and how many there are once the page has asked for the rest.
PAGES = [
    ("home.py", "methods", 1),
    ("decode.py", "candidates", 4),
    ("speculative.py", "timeline", 4),
    ("reasoning.py", "stops", 5),
    # Its tree, in a closed tab, takes networkx.
    ("sampling.py", "draw", 4),
    ("read.py", "favourites", 2),
    ("diffusion.py", "canvas", 2),
    ("beam.py", "beam-tree", 2),
]
SCRIPT = """
import sys
from streamlit.testing.v1 import AppTest
from pages.ui.resources import models
from tests.ui.seen import charts

models.warm_up = lambda: None
app = AppTest.from_file("pages/main.py", default_timeout=120).run()
for script, first, all_of_them in {pages}:
    assert script == "beam.py" or "networkx" not in sys.modules, script
    if script != "home.py":
        app.switch_page(script).run()
    assert not app.exception, (script, app.exception)
    assert charts(app) == [first], (script, charts(app))
    app.run()
    assert charts(app)[0] == first and len(charts(app)) == all_of_them, (script, charts(app))
    found = {{"torch", "transformers"}} & set(sys.modules)
    assert not found, (script, found)
"""


def test_the_first_paint_loads_neither_torch_nor_transformers() -> None:
    code = [sys.executable, "-c", SCRIPT.format(pages=PAGES)]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
