"""A figure as the values that JSON has."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go


def plain_values(figure: go.Figure) -> dict[str, Any]:
    """Data and layout in dicts, lists, text and numbers; what is no finite number is None."""
    own = vars(figure).get("_values")
    if own is not None:
        return {"data": _plain(own["data"]), "layout": _plain(own["layout"])}
    # `to_dict` would copy all of it first, which takes as long again.
    return {"data": _plain(figure._data), "layout": _plain(figure._layout)}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    # Of numpy or pandas.
    return value.tolist() if hasattr(value, "tolist") else value
