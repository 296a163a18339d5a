"""Declared penalties and bans; torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...constraints.value import (
    Constraint,
    constraint_in,
    constraint_words,
    read_constraint,
)
from ...validation import Interval
from ..spec import Lines, SettingSpec, SliderRange, setting
from .bias import (
    bias_lines,
    bias_text,
    bias_words,
    biases_in,
    read_biases,
)
from .states import States
from .tokens import (
    breaker_lines,
    breakers_in,
    breakers_text,
    breakers_words,
    read_breakers,
    read_sequences,
    read_tokens,
    sequence_lines,
    sequences_in,
    sequences_text,
    sequences_words,
    token_lines,
    tokens_in,
    tokens_text,
    tokens_words,
)

# Of the penalties that OpenAI's API has.
_OPENAI = Interval(-2.0, 2.0)
_REPEATS = "Repeats and length"
_TOKEN_LINES = Lines(
    help="One token a line: its text, or # and its id. A space before a word is part of the token; "
    "\\n is a line break.",
    placeholder=" the\n#383",
    read=token_lines,
    write=tokens_text,
)


def _banned_tokens(label: str, act: str, *, source: str, absent: str) -> tuple[int, ...]:
    """Return the field of a list of single tokens that are banned."""
    return setting(
        (),
        SettingSpec(
            role="ban",
            label=label,
            help=f"{act}: IDs separated by commas, or each in an option of its own. It acts in "
            "greedy too. None is off.",
            source=source,
            absent=absent,
            passed=lambda tokens: list(tokens) or None,
            read=read_tokens,
            parse=tokens_in,
            lines=_TOKEN_LINES,
            shown=tokens_words,
            token_ids=tuple,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties(States):
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
            absent="transformers takes a function in its place, `prefix_allowed_tokens_fn`; "
            "mlx-lm leaves it to a logits processor of one's own.",
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
            source="OpenAI's API; transformers' `SequenceBiasLogitsProcessor`",
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
    dry_multiplier: float = setting(
        0.0,
        SettingSpec(
            role="penalty",
            label="DRY",
            name="DRY",
            help="Subtract this number times the base to the power of the repeat's length beyond "
            "the allowed one from the logit of a token that would make the end of the text repeat "
            "an earlier stretch. It acts in greedy too. 0 is off.",
            source="Weidmann 2024; llama.cpp's `llama_sampler_dry_apply`",
            absent="Made for text-generation-webui; of the four, llama.cpp took it over.",
            interval=Interval(0.0, 100.0),
            slider=SliderRange(0.0, 5.0, 0.05, typed=100.0, decode=True),
            group=_REPEATS,
            generate=None,
        ),
    )
    dry_base: float = setting(
        1.75,
        SettingSpec(
            role="penalty",
            label="DRY base",
            name="DRY base",
            help="DRY's penalty grows by this factor with each further token of the repeat.",
            interval=Interval(1.0, 10.0),
            part_of="dry_multiplier",
            slider=SliderRange(1.0, 4.0, 0.05, typed=10.0, decode=True),
            generate=None,
        ),
    )
    dry_allowed_length: int = setting(
        2,
        SettingSpec(
            role="penalty",
            label="DRY allowed length",
            name="DRY allowed length",
            help="DRY leaves alone what would continue a repeat of fewer tokens.",
            interval=Interval(0, 1000),
            part_of="dry_multiplier",
            slider=SliderRange(1, 20, 1, typed=1000, decode=True),
            generate=None,
        ),
    )
    dry_penalty_last_n: int = setting(
        -1,
        SettingSpec(
            role="penalty",
            label="DRY range",
            name="DRY range",
            help="Number of the last tokens, those of the prompt included, in which DRY looks for "
            "repeats; -1 stands for all, and 0 for none.",
            interval=Interval(-1, 10_000_000),
            part_of="dry_multiplier",
            slider=SliderRange(-1, 512, 1, typed=100_000, decode=True),
            generate=None,
        ),
    )
    dry_sequence_breakers: tuple[str, ...] = setting(
        ("\n", ":", '"', "*"),
        SettingSpec(
            role="penalty",
            label="DRY breakers",
            name="DRY breakers",
            help="DRY's repeats end at these texts; each in an option of its own, and an empty one "
            "for none.",
            part_of="dry_multiplier",
            generate=None,
            read=read_breakers,
            parse=breakers_in,
            lines=Lines(
                help="DRY's repeats end at these texts. One a line; \\n is a line break.",
                placeholder="",
                read=breaker_lines,
                write=breakers_text,
            ),
            shown=breakers_words,
        ),
    )
    no_repeat_ngram_size: int = setting(
        0,
        SettingSpec(
            role="ban",
            label="No repeated n-gram",
            help="Ban n-grams that were seen. It acts in greedy too. 0 is off.",
            source="Paulus et al. 2017; transformers' `NoRepeatNGramLogitsProcessor`",
            absent="The engines have penalties in its place.",
            interval=Interval(0, 1000),
            slider=SliderRange(0, 10, 1, typed=1000, decode=True),
            group=_REPEATS,
            acts_from=int,
        ),
    )
    bad_words: tuple[tuple[int, ...], ...] = setting(
        (),
        SettingSpec(
            role="ban",
            label="Bad words",
            help="Ban sequences of tokens: IDs with dots between, several sequences separated by "
            "commas or each in an option of its own. It acts in greedy too. None is off.",
            source="transformers' `NoBadWordsLogitsProcessor`",
            absent="mlx-lm and llama.cpp ban single tokens only, by a logit bias.",
            generate="bad_words_ids",
            passed=lambda sequences: [list(sequence) for sequence in sequences] or None,
            read=read_sequences,
            parse=sequences_in,
            lines=Lines(
                help="Texts that must not be written. One a line, or the ids of its tokens, each "
                "after #. A space before a word is part of it, so give both forms; \\n is a line "
                "break.",
                placeholder=" never\n#383 #12",
                read=sequence_lines,
                write=sequences_text,
                several=True,
            ),
            shown=sequences_words,
            token_ids=lambda sequences: {token for sequence in sequences for token in sequence},
        ),
    )
    length_decay: float = setting(
        1.0,
        SettingSpec(
            role="penalty",
            label="Length decay",
            help="Raise the end-of-sequence tokens' logits by a factor that is this number to the "
            "power of the tokens beyond the start; below 1, lower them. It acts in greedy too. 1 "
            "is off.",
            source="transformers' `ExponentialDecayLengthPenalty`",
            absent="The engines have limits of length only.",
            interval=Interval(0.01, 10.0),
            slider=SliderRange(0.9, 1.5, 0.01, typed=10.0, decode=True),
            group=_REPEATS,
            generate="exponential_decay_length_penalty",
            passed=lambda value: None if value[0] == 1 else (value[1], value[0]),
            # A logit that it multiplies further decides nothing any more.
            stretch=lambda _: 32.0,
        ),
    )
    length_decay_start: int = setting(
        20,
        SettingSpec(
            role="penalty",
            label="Decay start",
            name="decay start",
            help="Number of generated tokens after which the length decay begins.",
            interval=Interval(0, 100_000),
            part_of="length_decay",
            slider=SliderRange(0, 200, 1, typed=100_000, decode=True),
            generate=None,
        ),
    )
    suppress_tokens: tuple[int, ...] = _banned_tokens(
        "Suppress tokens",
        "Ban single tokens",
        source="transformers' `SuppressTokensLogitsProcessor`",
        absent="The engines ban single tokens by a logit bias.",
    )
    begin_suppress_tokens: tuple[int, ...] = _banned_tokens(
        "Suppress at begin",
        "Ban single tokens as the first generated one",
        source="transformers' `SuppressTokensAtBeginLogitsProcessor`",
        absent="Made for Whisper in transformers.",
    )
