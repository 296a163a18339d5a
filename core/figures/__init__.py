"""Figures: pure functions from a trace to a Plotly figure, and the data behind each as a table.

Names are resolved at first use (they stand in `__init__.pyi`): pandas takes a quarter of a second,
and the app's first paint needs only the theme and the colours of the text.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
