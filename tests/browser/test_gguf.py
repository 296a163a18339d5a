"""A GGUF file typed into the picker is converted, decodes, and is named in the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import running_app
from tests.models.gguf.files import write_gguf

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """An app whose user has an empty cache directory, and a GGUF file."""
    folder = tmp_path_factory.mktemp("gguf")
    with running_app(folder / "log.txt") as url:
        yield url, write_gguf(folder / "small.gguf", "Q8_0")


def test_a_gguf_file_is_picked_and_decodes(page: Page, own_server: tuple[str, Path]) -> None:
    url, file = own_server
    page.goto(f"{url}/?prompt={quote('the fox')}&tokens=8")
    picker = page.get_by_role("combobox", name="Model")
    picker.click()
    picker.fill(str(file))
    picker.press("Enter")
    expect(page).to_have_url(lambda address: "small.gguf" in address)
    page.get_by_role("button", name="Run").click()
    status = page.locator(".st-key-status-finished")
    expect(status).to_contain_text("Your run", timeout=120_000)
    expect(page.get_by_text("GGUF cache: 1")).to_be_visible()
    page.get_by_role("button", name="Empty").click()
    expect(page.get_by_text("GGUF cache: 1")).to_have_count(0)
