"""Declared penalties and bans; torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.decoding.constraints.value import (
    Constraint,
    constraint_in,
    constraint_words,
    read_constraint,
)
from core.decoding.shaping.settings.bias import (
    bias_lines,
    bias_text,
    bias_words,
    biases_in,
    read_biases,
)
from core.decoding.shaping.settings.filters import Filters
from core.decoding.shaping.spec import Lines, SettingSpec, SliderRange, setting
from core.decoding.validation import Interval

# Of the penalties that OpenAI's API has.
_OPENAI = Interval(-2.0, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties(Filters):
    """Penalties and bans, in the order in which a run applies them."""

    constraint: Constraint | None = setting(  # noqa: RUF009 - a value that never changes
        None,
        SettingSpec(
            role="ban",
            label="Constraint",
            help="Allow only tokens that keep to a rule: KIND=TEXT, where the kind is choice (one "
            "a line), regex, json (a JSON schema) or lark (a grammar). It acts first, on the "
            "answer alone, in greedy too; a ban that would remove every allowed token gives way. "
            "None is off.",
            source="llguidance 1.9.1",
            generate=None,
            read=read_constraint,
            parse=constraint_in,
            shown=constraint_words,
        ),
    )
    logit_bias: tuple[tuple[int, float], ...] | Mapping[int, float] = setting(
        (),
        SettingSpec(
            role="penalty",
            label="Logit bias",
            help="Add a number from -100 to 100 to the logits of single tokens, before everything "
            "else: ID=VALUE, several separated by commas or each in an option of its own. It acts "
            "in greedy too. None is off.",
            key="bias",
            generate="sequence_bias",
            passed=lambda biases: [[[token], value] for token, value in biases] or None,
            read=read_biases,
            parse=biases_in,
            lines=Lines(
                help="What is added to the logits of single tokens, from -100 to 100. One a line: "
                "a token's text, or # and its id, then = and the number. A space before a word is "
                "part of the token; \\n is a line break.",
                placeholder=" the = -5\n#383 = -5",
                read=bias_lines,
                write=bias_text,
            ),
            shown=bias_words,
            token_ids=lambda biases: [token for token, _ in biases],
        ),
    )
    repetition_penalty: float = setting(
        1.0,
        SettingSpec(
            role="penalty",
            label="Penalty",
            help="Above 1, tokens that are already in the text get less likely. It acts in greedy "
            "too. 1 is off.",
            source="Keskar et al. 2019; transformers' `RepetitionPenaltyLogitsProcessor`",
            interval=Interval(0.01, 100.0),
            name="repetition penalty",
            key="penalty",
            slider=SliderRange(1.0, 2.0, 0.05, typed=10.0, decode=True),
            stretch=lambda value: max(value, 1 / value),
        ),
    )
    frequency_penalty: float = setting(
        0.0,
        SettingSpec(
            role="penalty",
            label="Frequency",
            name="frequency penalty",
            help="Subtract this number from a token's logit for each time that the token was "
            "generated; the prompt doesn't count. It acts in greedy too. 0 is off.",
            source="OpenAI's API; vLLM's `apply_penalties`",
            absent="transformers has the repetition penalty in its place.",
            interval=_OPENAI,
            slider=SliderRange(-2.0, 2.0, 0.05, decode=True),
            generate=None,
        ),
    )
    presence_penalty: float = setting(
        0.0,
        SettingSpec(
            role="penalty",
            label="Presence",
            name="presence penalty",
            help="Subtract this number once from the logit of each token that was generated; the "
            "prompt doesn't count. It acts in greedy too. 0 is off.",
            source="OpenAI's API; vLLM's `apply_penalties`",
            absent="transformers has the repetition penalty in its place.",
            interval=_OPENAI,
            slider=SliderRange(-2.0, 2.0, 0.05, decode=True),
            generate=None,
        ),
    )
    no_repeat_ngram_size: int = setting(
        0,
        SettingSpec(
            role="ban",
            label="No repeated n-gram",
            help="Ban n-grams that were seen. 0 is off.",
            interval=Interval(0, 1000),
            acts_from=int,
        ),
    )
