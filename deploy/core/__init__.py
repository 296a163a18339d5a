"""The installed package under the name `core`, by which the app's pages import it.

setup.py puts this file into `decoding_explorer/app/core`, beside `app.py` and `pages`.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

if "decoding_explorer" in sys.modules:
    raise ImportError("The package is already imported as decoding_explorer: take that name.")
_folder = Path(__file__).parents[2]
_spec = spec_from_file_location(
    "core", _folder / "__init__.py", submodule_search_locations=[str(_folder)]
)
sys.modules["core"] = module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["core"])
