"""A model whose probabilities are written down."""

from __future__ import annotations

import math

import pytest
import torch

from core.decoding.errors import ModelError, PromptError
from core.models.scripted import ScriptedModel

THREE = ("<end>", "a", "b")


def ring() -> ScriptedModel:
    """Return a model in which `b` follows `a`, and the end or `a` follows `b`."""
    return ScriptedModel({(): [0, 1, 0], (1,): [0.1, 0, 0.9], (2,): [0.5, 0.5, 0]}, tokens=THREE)


def test_logits_are_the_logarithms_of_the_script() -> None:
    logits = ring().start([1]).logits
    assert logits.dtype is torch.float32
    assert logits[0].tolist() == pytest.approx([math.log(0.1), -math.inf, math.log(0.9)])


def test_the_longest_key_that_fits_counts() -> None:
    model = ScriptedModel(
        {(): [1, 0, 0], (1,): [0, 1, 0], (2, 1): [0, 0, 1]}, tokens=THREE, given="logits"
    )
    answers = [model.logits_after(ids).argmax().item() for ids in ([2], [1], [1, 1], [0, 2, 1])]
    assert answers == [0, 1, 1, 2]


def test_a_callable_sees_the_whole_context() -> None:
    def script(ids: tuple[int, ...]) -> list[float]:
        return [float(len(ids)), float(sum(ids)), 0.0]

    model = ScriptedModel(script, tokens=THREE, given="logits")
    assert model.start([1, 2]).extend([1])[0].tolist() == [[3.0, 4.0, 0.0]]


def test_rows_extend_branch_and_roll_back() -> None:
    seen: list[tuple[int, int]] = []
    context = ring().start([1, 2], on_logits=lambda at, rows: seen.append((at, len(rows))))
    assert seen == [(0, 2)]
    context = context.branch([0, 0])
    logits = context.extend([[1, 2], [2, 2]])
    assert tuple(logits.shape) == (2, 2, 3)
    assert torch.equal(context.logits, logits[:, -1])
    context.rollback(3)
    assert context.length == 1
    with pytest.raises(ValueError, match="holds 1 tokens"):
        context.rollback(2)
    with pytest.raises(ValueError, match="can't branch"):
        context.branch([2])
    context.extend([[1], [2]])
    context.reorder([1, 1, 0])
    assert (context.rows, context.logits[:2].tolist()) == (
        3,
        [ring().logits_after([2]).tolist()] * 2,
    )


def test_encoding_takes_the_longest_token_and_text_comes_back() -> None:
    model = ScriptedModel({(): [1.0] * 4}, tokens=("<end>", "a", "ab", b"\xe2\x98"), given="logits")
    assert model.encode("aaba") == [1, 2, 1]
    assert b"".join(map(model.token_bytes, [1, 2, 1, 0])) == b"aaba"
    assert [model.token_text(token) for token in range(5)] == [
        "<end>",
        "a",
        "ab",
        "<E2><98>",
        "<unused 4>",
    ]
    assert model.token_bytes(4) == b""


def test_text_that_no_token_spells_is_a_prompt_error() -> None:
    with pytest.raises(PromptError, match="No token fits at 'zebra'; write with"):
        ring().encode("abzebra")
    with pytest.raises(PromptError, match="No token fits"):
        ring().encode("<end>")


def test_bad_ids_and_full_windows_are_prompt_errors() -> None:
    model = ScriptedModel({(): [1, 0, 0]}, tokens=THREE, context_window=3)
    with pytest.raises(PromptError, match="got 3"):
        model.start([3])
    with pytest.raises(PromptError, match="at least one"):
        model.start([])
    with pytest.raises(PromptError, match="holds 3 tokens, 4"):
        model.start([1, 1, 1]).extend([1])


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([0.5, 0.5], "must hold 3 numbers"),
        ([0.5, 0.4, 0], "add up to 1"),
        ([1.5, -0.5, 0], "add up to 1"),
        ([math.nan, 1, 0], "add up to 1"),
    ],
)
def test_a_row_that_is_no_distribution_is_a_model_error(row: list[float], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ScriptedModel({(): row}, tokens=THREE).start([1])


def test_a_script_with_a_gap_says_so() -> None:
    with pytest.raises(ModelError, match="says nothing after"):
        ScriptedModel({(2,): [1, 0, 0]}, tokens=THREE).start([1])
