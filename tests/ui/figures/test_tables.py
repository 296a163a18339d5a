"""Tables of numbers on a page."""

from __future__ import annotations

from io import BytesIO

import pyarrow as pa
from streamlit.testing.v1 import AppTest


def _page() -> None:
    from pages.ui.widgets import table

    data = {"way": ["a", "b", "c"], "ln p": [-1.25, 2.0, None], "mass": [0.5, 0.25, 1.0]}
    table.draw("numbers", data, numbers={"ln p": "%.1f", "mass": "%.2f"})


def test_negative_numbers_have_a_minus_sign_and_stay_numbers() -> None:
    (drawn,) = AppTest.from_function(_page).run().dataframe
    assert drawn.value["ln p"].dropna().tolist() == [-1.25, 2.0]
    shown = pa.ipc.open_stream(BytesIO(drawn.proto.arrow_data.styler.display_values)).read_pandas()
    assert shown.iloc[:, 1].tolist() == ["−1.2", "2.0", ""]
    assert "%.2f" in drawn.proto.columns and "%.1f" not in drawn.proto.columns
