"""Every word that a reader asks for has its meaning, and a text links the words that it uses."""

from __future__ import annotations

import re

import pytest

from pages.ui import registry
from pages.ui.shell import glossary
from pages.ui.shell.glossary import TERMS, marked
from tests.ui.conftest import Open
from tests.ui.seen import markup

LINK = re.compile(r"\[([^\]]+)\]\(#word-([^)]+)\)")


def test_every_meaning_is_a_sentence() -> None:
    assert {"logit", "nats", "entropy"} <= set(" ".join(TERMS).replace(",", "").split())
    for term, meaning in TERMS.items():
        assert len(meaning) > 30 and meaning.endswith((".", "nats.")), term


def test_the_first_mention_of_each_entry_becomes_a_link_to_it() -> None:
    text = "Tokens and a token have logits; **top-p** isn't top-ply, nor is a stoken."
    assert LINK.findall(marked(text)) == [
        ("Tokens", "token"),
        ("logits", "logit"),
        ("top-p", "top-p"),
    ]
    assert LINK.sub(r"\1", marked(text)) == text


@pytest.mark.parametrize("text", ["## A token", "`token`", "[a token](/x)", "a beamed trial"])
def test_headings_code_and_links_stay_as_they_are(text: str) -> None:
    assert marked(text) == text


@pytest.mark.parametrize("page", registry.PAGES, ids=[page.title for page in registry.PAGES])
def test_every_link_of_a_page_leads_to_an_entry(page: registry.Page, open_app: Open) -> None:
    links = LINK.findall(markup(open_app(page.script)))
    slugs = {glossary._slug(glossary._names(term)[0]) for term in TERMS}
    assert {slug for _, slug in links} <= slugs
    assert links or page.path in ("course", "class")
