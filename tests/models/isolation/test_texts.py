"""Sentences of the process that reads models follow the reader's language."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.decoding.counting import counted, sentences
from core.decoding.errors import ModelError
from core.language import Message, tr, use
from core.models.isolation import client
from core.models.isolation.server import answer
from core.models.isolation.texts import packed, unpacked

NO_CONFIG = Message(
    "The folder {name} holds no config.json; give the folder of a transformers model.", name="x"
)


def sent(value: Any) -> str:
    return unpacked(json.loads(json.dumps(packed(value))))


@pytest.mark.parametrize(
    "text",
    [
        NO_CONFIG,
        Message("The server refused: {shown}", shown=ModelError(NO_CONFIG)),
        Message("It holds {tokens}.", tokens=counted(1_234, "token")),
        counted(1, "token"),
        sentences(NO_CONFIG, Message("The prompt is empty.")),
        "a {brace} of a stranger",
    ],
)
def test_a_sent_text_says_the_same_in_each_language(text: str) -> None:
    arrived = sent(text)
    assert arrived == text
    for language in ("en", "ja", "ko"):
        with use(language):
            assert tr(arrived) == tr(text)


def test_a_refusal_with_values_is_told_in_the_readers_language() -> None:
    def refuse() -> None:
        raise ModelError(NO_CONFIG)

    with pytest.raises(ModelError, match="The folder x holds no") as caught:
        client._value(json.loads(json.dumps(answer(refuse, {}))))
    with use("ja"):
        assert caught.value.shown == tr(NO_CONFIG) != str(caught.value)


@pytest.mark.parametrize(
    "template",
    ["{a.__class__}", "{a!r:>999999999}", "{a:>999999999}", "{a[0]}", "{", "{b}", 7, None],
)
def test_a_template_of_a_stranger_is_not_filled(template: Any) -> None:
    said = {"text": "plain", "template": template, "values": {"a": "x"}}
    assert type(unpacked(said)) is str and unpacked(said) == "plain"
    assert unpacked({**said, "template": "{a}"}) == "plain", "another text than it says"
    assert unpacked({**said, "many": template, "number": 2}) == "plain"


def test_endless_values_end() -> None:
    said: dict[str, Any] = {"text": "a", "template": "{a}", "values": {"a": "a"}}
    for _ in range(100):
        said = {"text": "a", "template": "{a}", "values": {"a": said}}
    assert unpacked(said) == "a"
