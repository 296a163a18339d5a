"""Texts in a language: translated where they are shown, English everywhere else."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import copy, deepcopy

import pytest

from core.decoding.counting import counted, place_of, span_of
from core.decoding.errors import ConfigError, PromptError
from core.language import Message, Plural, current, language_of, message, tr, trn, use
from core.language.line_breaks import breakable

JAPANESE = {
    "kept {tokens}": "{tokens}を残した",
    "{count} token": "{count} トークン",
    "{count} token of {name}": "{name}の{count} トークン",
    "Step {nth} of {count}": "ステップ {nth} / {count}",
    "must be positive": "は正の数です",
    "Tokens": "トークン",
}


class _Words:
    def gettext(self, text: str) -> str:
        return JAPANESE.get(text, text)

    def ngettext(self, one: str, many: str, count: int) -> str:
        return JAPANESE.get(one, one if count == 1 else many)


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "catalogue", lambda _: _Words())


def test_a_message_is_its_english_text_until_it_is_shown() -> None:
    text = Message("kept {tokens}", tokens=counted(1200, "token"))
    assert text == "kept 1,200 tokens" and f"{text}!" == "kept 1,200 tokens!"
    with use("ja"):
        assert str(text) == "kept 1,200 tokens"
        assert tr(text) == "1,200 トークンを残した"
    assert tr(text) == "kept 1,200 tokens"


def test_values_are_translated_only_if_they_are_messages() -> None:
    with use("ja"):
        assert tr("kept {tokens}", tokens="Tokens") == "Tokensを残した"
        assert tr("kept {tokens}", tokens=Message("Tokens")) == "トークンを残した"


def test_a_text_without_a_translation_stays_english() -> None:
    with use("ja"):
        assert tr("unknown {name}", name="x") == "unknown x"
        assert tr("braces {stay} here") == "braces {stay} here"
        assert tr("") == ""


@pytest.mark.parametrize(("count", "english"), [(1, "1 token"), (0, "0 tokens"), (2, "2 tokens")])
def test_a_count_chooses_the_form(count: int, english: str) -> None:
    assert trn("{count} token", "{count} tokens", count) == english == counted(count, "token")
    with use("ja"):
        assert tr(counted(count, "token")) == f"{count} トークン"


def test_places_are_translated_as_a_whole() -> None:
    assert place_of("Step", 6, 40) == "Step 7 of 40"
    assert span_of("Steps", 0, 40, 163) == "Steps 1 to 40 of 163"
    assert span_of("Steps", 6, 7, 40) == "Step 7 of 40"
    with use("ja"):
        assert tr(place_of("Step", 6, 40)) == "ステップ 7 / 40"


NAMED = Plural("{count} token of {name}", "{count} tokens of {name}", 2, name=Message("Tokens"))


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy, deepcopy])
@pytest.mark.parametrize("text", [Message("kept {tokens}", tokens=3), counted(2, "token"), NAMED])
def test_a_message_goes_to_another_process_and_back(
    text: Message, copied: Callable[[Message], Message]
) -> None:
    again = copied(text)
    assert again == text and type(again) is type(text) and vars(again) == vars(text)
    with use("ja"):
        assert tr(again) == tr(text) != text


def test_an_error_is_english_in_logs_and_translated_where_it_is_shown() -> None:
    error = PromptError(Message("kept {tokens}", tokens=3))
    with use("ja"):
        assert str(error) == "kept 3"
        assert error.shown == "3を残した"


def test_an_error_of_a_setting_is_translated_behind_the_setting_s_name() -> None:
    error = ConfigError("must be positive", "width", "BeamSearch")
    assert str(error) == "BeamSearch.width must be positive"
    assert error.sentence("Width") == "Width must be positive" and error.plain.startswith("width ")
    with use("ja"):
        assert tr(error.sentence("幅")) == "幅は正の数です"
        assert tr(error.sentence("")) == "は正の数です" != str(error.sentence(""))
        assert str(error) == "BeamSearch.width must be positive"


def test_a_rest_without_a_translation_keeps_the_space_of_english(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(JAPANESE, "{setting} {rest}", "{setting}{rest}")
    rests = {
        "must be positive": "幅は正の数です",
        "is odd": "幅 is odd",
        ", the first": "幅, the first",
    }
    with use("ja"):
        for rest, shown in rests.items():
            assert tr(ConfigError(rest, "width", "BeamSearch").sentence("幅")) == shown
        error = ConfigError("is odd", "width", "BeamSearch")
        assert tr(error.sentence(Message("Tokens"))) == "トークン is odd"


def test_a_block_s_language_ends_with_it() -> None:
    with use("ja"):
        with use("ko"):
            assert current() == "ko"
        assert current() == "ja"
    assert current() == "en"


@pytest.mark.parametrize(
    ("tag", "language"),
    [("ja", "ja"), ("ja-JP", "ja"), ("KO_kr", "ko"), ("en-GB", "en"), ("fr", None), (None, None)],
)
def test_a_browser_s_tag_names_its_language(tag: str | None, language: str | None) -> None:
    assert language_of(tag) == language


def _pieces(text: str) -> list[str]:
    import re

    return [piece for _, piece in breakable(text, re.compile("[^ ]+"))]


def test_japanese_breaks_between_characters_but_not_before_a_closing_mark() -> None:
    with use("ja"):
        assert _pieces("木です。") == ["木です。"]
        assert _pieces("読みました。") == ["読", "みました。"]
        assert _pieces("ありません。") == ["あ", "りません。"]
        assert _pieces("「木」と") == ["「木」", "と"]
        assert _pieces("データ") == ["デー", "タ"]
        assert _pieces("top-p の") == ["top-p", "の"]
        assert _pieces("<b>木を見る</b>人") == ["<b>木を見る</b>", "人"]


def test_japanese_keeps_a_number_and_its_counter_together() -> None:
    with use("ja"):
        assert _pieces("木 22 件") == ["木", "22 件"]
        assert _pieces("木 22 件中の") == ["木", "22 件", "中", "の"]
        assert _pieces("木中\u00a024") == ["木", "中\u00a024"]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_english_and_korean_break_at_spaces_alone(language: str) -> None:
    with use(language):
        assert _pieces("두 단어 木です") == ["두", "단어", "木です"]


def test_a_plural_keeps_its_other_values() -> None:
    assert Plural("{texts} {count} run", "{texts} {count} runs", 2, texts="a") == "a 2 runs"
