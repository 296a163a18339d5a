"""A page's headings in order, for those who go from one to the next."""

import re

import pytest

from pages.ui import registry
from tests.ui.conftest import Open


@pytest.mark.parametrize("page", registry.PAGES, ids=[page.title for page in registry.PAGES])
def test_no_level_is_left_out(page: registry.Page, open_app: Open) -> None:
    app = open_app(page.script)
    assert len(app.title) == 1
    written = [mark for text in app.markdown for mark in re.findall(r"(?m)^#+ ", text.value)]
    assert set(written) <= {"## "}
    assert written or app.header or not page.shows
    # A heading of the third level stands below one of the second.
    assert not app.subheader or written or app.header
