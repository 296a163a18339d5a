"""Thinking apart from the answer, by marks that are tokens or ordinary text."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core import load_model
from core.decoding.reasoning.split import SplitReply, ThinkingSplit, marks_of, split_reply
from core.decoding.reasoning.types import ThinkMarks

MARKS = ("<thought>", "</thought>")


def _joined(split: ThinkingSplit, pieces: list[str]) -> tuple[str, str]:
    texts = {"thinking": "", "answer": ""}
    for piece in pieces:
        for phase, text in split.push(piece):
            texts[phase] += text
    phase, held = split.flush()
    texts[phase] += held
    return texts["thinking"], texts["answer"]


@pytest.mark.parametrize(
    ("prompt", "text", "thinking", "answer"),
    [
        ("", "<thought>7 < 9</thought>\nNine.", "7 < 9", "\nNine."),
        ("", "No thought: a < b </thought>", "", "No thought: a < b </thought>"),
        ("", "<thought>a</thought>The word <thought> stays.", "a", "The word <thought> stays."),
        ("", "<thought>never ends </thou", "never ends </thou", ""),
        ("ask <thought>\n", "a</thought>b", "a", "b"),
        ("ask <thought></thought>\n\n", "<thought> is a mark", "", "<thought> is a mark"),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_marks_of_ordinary_text_divide_it_however_it_is_cut(
    prompt: str, text: str, thinking: str, answer: str, size: int
) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert _joined(ThinkingSplit(MARKS, prompt), pieces) == (thinking, answer)


def test_marks_that_are_tokens_are_in_neither_text_and_are_not_counted() -> None:
    model = load_model("embedded:draft")
    prompt = model.encode_chat([{"role": "user", "content": "What is 3 + 4?"}])
    ids = model.encode("<think>3 + 4 = 7.</think>The answer is 7.<|end|>")
    assert split_reply(model, prompt, ids) == SplitReply("3 + 4 = 7.", "The answer is 7.")
    assert split_reply(model, prompt, ids[:4]).answer == ""
    split = ThinkingSplit(("<think>", "</think>"), "")
    for text, special in (("", "<think>"), ("3", ""), (" + 4", ""), ("", "</think>"), ("7", "")):
        split.push(text, special)
    assert split.thinking_tokens == 2


def test_a_model_that_its_prompt_tells_to_think_has_no_marks() -> None:
    model = SimpleNamespace(think_marks=ThinkMarks("", "\nFinal answer:", "prompt", "Think."))
    assert marks_of(model) == marks_of(object()) == ("", "")
