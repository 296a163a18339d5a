"""Every word that the issue of a reader names has its meaning, and a page offers all of them."""

from pages.ui.shell.glossary import TERMS


def test_every_meaning_is_a_sentence() -> None:
    assert {"logit", "nats", "entropy"} <= set(" ".join(TERMS).replace(",", "").split())
    for term, meaning in TERMS.items():
        assert len(meaning) > 30 and meaning.endswith((".", "nats.")), term
