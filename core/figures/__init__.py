"""Figures: pure functions from a trace to a Plotly figure, and from a trace to its data as a table.

Names are imported at first use (`__init__.pyi` lists them): pandas takes a quarter of a second to
import, and the app's first paint needs only the theme and the text colours.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
