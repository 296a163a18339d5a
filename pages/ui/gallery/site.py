"""Static site of the stored examples: a web page for each page of the app and each lesson."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from core.decoding.files import write_file
from core.export.web.page import static_page
from core.installation import ROOT
from core.language import N_, tr
from core.lessons.course import own_lessons
from pages.ui.gallery import lessons
from pages.ui.registry import DECODE, PAGES, Page
from pages.ui.run.view import View

PICTURES = ROOT / "docs" / "pages"
INDEX = "index.html"
_TITLE = N_("Decoding Explorer: gallery")
_WORDS = N_(
    "How a language model decodes, one stored run a page. Every number is real: it comes from a "
    "model that ran. The pages need no server and no network; in the app each of them runs "
    "with your own prompt."
)
_STYLE = (Path(__file__).parent / "site.css").read_text(encoding="utf-8")


def _home() -> str:
    return f'<nav><a href="{INDEX}">{escape(tr("Gallery"))}</a></nav>'


def write_site(folder: Path) -> list[Path]:
    """Write the site into a folder, which is made if it is missing; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = list(stored_pages())
    contents = {f"{page.name}.html": content for page, content in shown}
    contents[INDEX] = index([page for page, _ in shown])
    saved = {page.name for page, _ in shown}
    for lesson in own_lessons():
        contents[lessons.file_of(lesson)] = lessons.lesson_page(lesson, _home(), _STYLE, saved)
    for name, content in contents.items():
        write_file(folder / name, content)
    return [folder / name for name in contents]


def stored_pages() -> Iterator[tuple[Page, bytes]]:
    """Yield each page of the app that has a stored example, with the example's web page."""
    for row in PAGES:
        content = row.stored() if row.stored else _of_trace(row)
        if content is not None:
            yield row, _with_link(content)


def _of_trace(row: Page) -> bytes | None:
    """Return the web page of the trace that a page stores; None for a page without one."""
    if not row.shows and row is not DECODE:
        return None
    view: View = row.view.find().__self__.initial()
    if view.trace is None:
        return None
    page: bytes = row.saved.find().web_page(view, view.trace)
    return page


def _with_link(content: bytes) -> bytes:
    """Return a saved page with a link to the index above its title."""
    return content.replace(b"<main>", f"<main>{_home()}".encode(), 1)


def index(pages: Sequence[Page]) -> bytes:
    """Return the page with a picture and a sentence for each of these pages."""
    body = (
        f"<main><h1>{escape(tr(_TITLE))}</h1><p>{escape(tr(_WORDS))}</p>"
        f'<ul class="cards">{"".join(map(_card, pages))}</ul>{lessons.lessons_list()}</main>'
    )
    return static_page(tr(_TITLE), f'<body class="gallery">{body}', _STYLE)


def _card(page: Page) -> str:
    picture = b64encode((PICTURES / f"{page.name}.png").read_bytes()).decode()
    return (
        f'<li><a href="{page.name}.html"><img alt="" src="data:image/png;base64,{picture}">'
        f"<h2>{escape(tr(page.title))}</h2></a><p>{escape(tr(page.summary))}</p></li>"
    )
