"""A draft with another tokenizer loses nothing: enumerated exactly on two tokens."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core import Shaping, Speculative, Trace, check
from core.models.scripted import ScriptedModel
from tests.decoding.speculative.test_exact import (
    TARGET_OF_TWO,
    distance,
    enumerate_runs,
    exact_distribution,
)


class _Decoding(ScriptedModel):
    """A scripted model that turns its tokens into text."""

    def decode(self, token_ids: Sequence[int], before: Sequence[int] = ()) -> str:  # noqa: ARG002
        return b"".join(map(self.token_bytes, token_ids)).decode()


def _target() -> _Decoding:
    return _Decoding(lambda ids: TARGET_OF_TWO[ids[-1]], tokens=["a", "b"], eos=None)


def _draft() -> _Decoding:
    """Its tokens are one or two letters: a text of the target's has fewer of them."""
    tokens = ["ab", "ba", "a", "b"]

    def row(ids: tuple[int, ...]) -> list[float]:
        # What the text ends with decides: after "b" the pair "ab", after "a" the letter "b".
        return [0.7, 0.1, 0.1, 0.1] if tokens[ids[-1]].endswith("b") else [0.1, 0.1, 0.1, 0.7]

    return _Decoding(row, tokens=tokens, eos=None)


CONFIGS = {
    "speculative": Speculative(draft_length=2, max_new_tokens=4, drafter="other_tokenizer"),
    "exact match": Speculative(
        draft_length=2, max_new_tokens=4, drafter="other_tokenizer", acceptance="exact"
    ),
    "block": Speculative(
        draft_length=2, max_new_tokens=4, drafter="other_tokenizer", acceptance="block"
    ),
    "longer": Speculative(draft_length=3, max_new_tokens=5, drafter="other_tokenizer"),
    "batch expansion": Speculative(
        draft_length=2, max_new_tokens=4, drafter="other_tokenizer", scoring="batch_expansion"
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_draft_through_text_loses_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config, texts = CONFIGS[name], set[tuple[tuple[str, ...], tuple[str, ...]]]()

    def count(trace: Trace, _: float) -> None:
        for step in trace.rounds:
            translated, drafted = (
                tuple(token.text for token in tokens) for tokens in (step.translation, step.drafted)
            )
            texts.add((translated, drafted))

    emitted = enumerate_runs(monkeypatch, _target(), _draft(), config, count)
    exact = exact_distribution(TARGET_OF_TWO, config.max_new_tokens)
    assert emitted.keys() == exact.keys()
    assert distance(emitted, exact) < 1e-5
    # A token "ab" of the draft is two of the target's.
    assert any("ab" in translated and "ab" not in drafted for translated, drafted in texts)


def test_the_rule_can_lose_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typical acceptance of the same drafts does."""
    config = Speculative(
        draft_length=2, max_new_tokens=4, drafter="other_tokenizer", acceptance="typical"
    )
    emitted = enumerate_runs(monkeypatch, _target(), _draft(), config)
    assert distance(emitted, exact_distribution(TARGET_OF_TWO, 4)) > 0.05


def test_greedy_is_the_targets_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Speculative(
        draft_length=2,
        max_new_tokens=4,
        drafter="other_tokenizer",
        shaping=Shaping(temperature=0.0),
    )
    traces: list[Trace] = []
    emitted = enumerate_runs(
        monkeypatch, _target(), _draft(), config, lambda trace, _: traces.append(trace)
    )
    assert emitted == {(0, 0, 0, 0): pytest.approx(1.0)}
    failed = {
        outcome.name for outcome in check(traces[0], _target(), _draft()) if not outcome.passed
    }
    assert failed <= {"dice_of_seed"}, "the enumeration chooses the numbers"
