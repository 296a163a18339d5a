"""Tables of numbers: a negative one has the minus sign that figures have, and stays a number."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _table() -> None:
    from pages.ui.widgets import table

    numbers = {"sum": "%.2f", "share": "%.2f"}
    table.draw("numbers", {"sum": [-1.5, None], "share": [0.25, 1.0]}, numbers=numbers)


def test_a_negative_number_is_shown_with_a_minus_sign_and_sorted_as_a_number() -> None:
    (shown,) = AppTest.from_function(_table).run().dataframe
    assert shown.proto.arrow_data.styler.display_values.count("\u22121.50".encode()) == 1
    assert shown.value["sum"].iloc[0] == -1.5
    assert '"format": "%.2f"' in shown.proto.columns
    assert shown.proto.columns.count("%.2f") == 1
