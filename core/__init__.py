"""The face that everything builds on; names are resolved at first use, so that reading a stored
trace loads neither torch nor transformers. The names stand in `__init__.pyi`."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
