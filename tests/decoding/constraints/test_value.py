"""The value of a constraint: its texts, the sentence that refuses one, and its place in files."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from time import perf_counter

import pytest

from core import ConfigError, Greedy, Shaping, read_trace
from core.decoding.constraints.references import has_finite_text
from core.decoding.constraints.value import KINDS, Constraint, constraint_in
from core.decoding.constraints.whole_text import keeps_to, shows_in_text
from core.decoding.methods import config_from_dict, config_to_dict
from core.figures.base.labels import settings_caption


def test_choices_are_lines_whose_escapes_give_every_text_back() -> None:
    texts = ("yes", "no\nor\tso", "C:\\new", 'say "é"', " space ")
    value = Constraint.of_choices(texts)
    assert value.choices == texts
    assert hash(value) == hash(Constraint("choice", value.text))
    assert Constraint("regex", "a").choices == ()
    for texts in (("\x7f", "a\x7fb"), ("a\x85",)):
        assert Constraint.of_choices(texts).choices == texts


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("regex", "a(", "unclosed group at character 2"),
        ("regex", "a[z-a]b", "invalid character class range.* at character 3"),
        ("regex", "(?=a)b", "look-around.* is not supported at character 1"),
        ("json", '{"type": "strin"}', "Invalid type: strin"),
        ("json", '{"not": {}}', r'llguidance can\'t keep to: Unimplemented keys: \["not"\]'),
        ("json", '{"oneOf": [{"type": "integer"}, {"type": "number"}]}', "can't keep.*anyOf, or"),
        ("json", '{"type": "integer", "minimum": 9223372036854775808}', "integer of 64 bits"),
        ("json", '{"type":\n "object",}', "double quotes at line 2, column 11"),
        ("json", "[1]", "it is no object"),
        ("json", "[" * 50_000, "nested too deeply"),
        ("json", '{"a":' * 200 + "1" + "}" * 200, "."),
        ("json", '{"type": "integer", "multipleOf": 999983}', "multipleOf.* is above 10,000"),
        ("json", ' {"allOf": [{"multipleOf": 0.997}, {"multipleOf": 1009}]}', "multipleOf"),
        ("lark", 'start: %json {"type": "integer", "multiple\\u004ff": 10007}', "multipleOf"),
        ("lark", 'start: "a"\nb: @', "lexer error at line 2, column 5"),
        ("lark", "start: foo", 'unknown name: "foo" at line 1, column 8'),
        ("lark", 'foo: "a"', "no start rule"),
        ("choice", " \n", "it is empty"),
        ("choice", "\n".join(map(str, range(1001))), "more than 1,000 lines"),
        ("regex", "\ud800", "UTF-8"),
        ("regex", "a" * 100_001, "at most 100,000 characters, got 100,001"),
        ("xml", "a", "one of choice, regex, json, lark, got 'xml'"),
    ],
)
def test_a_wrong_text_is_refused_in_one_sentence_with_its_place(kind, text, reason) -> None:
    with pytest.raises(ConfigError, match=reason) as told:
        Shaping(constraint=(kind, text))
    sentence = str(told.value)
    assert sentence.startswith("Shaping.constraint ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 500
    assert told.value.setting == "constraint"


@pytest.mark.parametrize(
    "wrong", [5, "json", [], ["json"], [1, 2], {"kind": "json"}, ["json", "{}", "{}"], [[], []]]
)
def test_another_value_is_refused(wrong) -> None:
    with pytest.raises(ConfigError, match=r"^Shaping\.constraint must be a kind and a text"):
        Shaping(constraint=wrong)


def test_the_refusal_of_another_value_shows_it() -> None:
    for value, shown in ((constraint_in("foo"), "'foo'"), ({"kind": "json"}, "the keys 'kind'")):
        with pytest.raises(ConfigError) as told:
            Shaping(constraint=value)
        assert str(told.value).endswith(f"(on the command line regex=[0-9]+), got {shown}.")


def test_every_kind_survives_a_file_and_is_shown_in_a_caption() -> None:
    texts = {
        "choice": "yes\nno",
        "regex": "[a-z]+",
        "json": '{"type": "null"}',
        "lark": 'start: "a"',
    }
    assert texts.keys() == {*KINDS}
    for kind, text in texts.items():
        config = Greedy(shaping=Shaping(constraint=Constraint(kind, text)))
        stored = json.loads(json.dumps(config_to_dict(config)))
        assert stored["shaping"]["constraint"] == {"kind": kind, "text": text}
        assert config_from_dict(stored) == config
        assert Shaping(constraint=constraint_in(f"{kind}={text}")) == config.shaping
    assert config_to_dict(Greedy())["shaping"]["constraint"] is None


def test_a_caption_holds_the_beginning_of_a_constraint() -> None:
    from core import collect
    from core.models.scripted import ScriptedModel

    model = ScriptedModel({(): [0.0, 0.5, 0.5]}, tokens=["<end>", "a", "b"])
    shaping = Shaping(constraint=Constraint("regex", "a{2}|" + "b" * 90))
    trace = collect(model, "a", Greedy(max_new_tokens=2, shaping=shaping))
    assert "constraint regex a{2}|bbb" in settings_caption(trace)
    assert read_trace(trace.to_json().encode()).config == trace.config


def test_a_hostile_text_is_answered_soon() -> None:
    """llguidance's own bounds suffice; no text of the allowed length takes long."""
    hostile = (
        ("regex", ".*" * 2_000 + "x"),
        ("regex", "((a{1000}){1000}){1000}"),
        ("regex", "(" * 50_000),
        (
            "json",
            '{"allOf":[' + ",".join(['{"anyOf":[{"minLength":2},{"pattern":"a"}]}'] * 15) + "]}",
        ),
        ("json", json.dumps({"enum": [str(n) for n in range(12_000)]})),
        ("lark", "start: " + "(" * 90_000),
        (
            "lark",
            "start: a0\n" + "\n".join(f"a{n}: a{n + 1} a{n + 1}" for n in range(30)) + '\na30: "x"',
        ),
    )
    for kind, text in hostile:
        began = time.perf_counter()
        with suppress(ConfigError):
            Constraint(kind, text)
        assert time.perf_counter() - began < 10, (kind, text[:40])


def _required(part: dict, **more: object) -> dict:
    return {"type": "object", "properties": {"a": part}, "required": ["a"], **more}


_SELF, _A = {"$ref": "#"}, {"$ref": "#/$defs/a"}
_ALIAS = {"$defs": {"a": _A}}
ENDLESS = [
    _SELF,
    _required(_A, **_ALIAS),
    _required(_SELF),
    {"type": "array", "minItems": 1, "items": _SELF},
    {"anyOf": [_A, {"allOf": [_SELF]}], **_ALIAS},
]
FINITE = [
    {"type": "object", "properties": {"a": _SELF}},
    _required({"anyOf": [_SELF, {"type": "null"}]}),
    {"type": "array", "items": _SELF},
    {"properties": {"a": _SELF}, "required": ["a"]},
]


@pytest.mark.parametrize("schema", ENDLESS)
def test_a_schema_without_a_finite_text_is_refused(schema) -> None:
    with pytest.raises(ConfigError, match="no finite text is valid: a required part refers to"):
        Constraint("json", json.dumps(schema))


@pytest.mark.parametrize("schema", FINITE)
def test_a_schema_that_may_refer_to_itself_is_kept(schema) -> None:
    assert has_finite_text(schema)
    Constraint("json", json.dumps(schema))


def test_many_references_are_followed_in_a_short_time() -> None:
    twice = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(60)}
    started = perf_counter()
    assert has_finite_text({"$ref": "#/$defs/a0", "$defs": {**twice, "a60": {"type": "null"}}})
    assert not has_finite_text({"$ref": "#/$defs/a0", "$defs": {**twice, "a60": {"$ref": "#"}}})
    assert perf_counter() - started < 1


@pytest.mark.parametrize(
    ("kind", "text", "kept", "broken"),
    [
        ("choice", "yes\nno", ("yes", "no"), ("ye", "maybe", "yesno", "")),
        ("regex", "[0-9]{4}", ("1234",), ("123", "12345", "x")),
        ("regex", "ü+", ("ü", "üü"), ("u", "")),
        (
            "json",
            '{"type": "array", "items": {"enum": [1, "a"]}}',
            ('[1, "a"]', "[]"),
            ("[2]", "["),
        ),
        (
            "lark",
            'start: "<[" word ("," word)* "]>" // a list\nword: /[a-z]{1,3}/',
            ("<[a,bc]>", "<[abc]>"),
            ("<[abcd]>", "<[a"),
        ),
    ],
)
def test_a_finished_text_is_tested_without_a_model(kind, text, kept, broken) -> None:
    constraint = Constraint(kind, text)
    assert all(keeps_to(constraint, one) for one in kept)
    assert not any(keeps_to(constraint, one) for one in broken)


@pytest.mark.parametrize(
    "text",
    [
        "start: <[3]> /a+/",
        'start: "a" <think>',
        "start: a\na[max_tokens=3]: /b+/",
        '%llguidance {"no_forcing": true}\nstart: "a"',
    ],
)
def test_a_text_alone_does_not_tell_of_special_tokens_and_bounds_on_tokens(text) -> None:
    assert not shows_in_text(Constraint("lark", text))
    assert shows_in_text(Constraint("lark", 'start: "<think>" /<x>|@/ # <[3]>'))
