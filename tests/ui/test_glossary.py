"""Every word that the issue of a reader names has its meaning, and a page offers all of them."""

import pytest

from pages.ui.shell.glossary import TERMS


@pytest.mark.parametrize(
    "word",
    "logit,nats,entropy,surprisal,prefill,Gumbel,token,rank,softmax,backpointer,inverse CDF,␣,"
    "end of text,KV cache,thinking budget".split(","),
)
def test_a_word_of_the_pages_is_explained(word: str) -> None:
    (meaning,) = [said for term, said in TERMS.items() if word in term]
    assert len(meaning) > 30 and meaning.endswith((".", "nats."))
