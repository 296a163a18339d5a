"""The speculative page's controls, declared once, and the run that they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.decoding.shaping.config import Shaping
from core.decoding.speculative.config import MAX_POSTERIOR, Acceptance, Speculative
from core.decoding.trace import Trace
from pages.ui.decode import controls
from pages.ui.run.request import Request
from pages.ui.shell import models
from pages.ui.widgets.knob import KNOBS, draw_knob, nearest_temperature, set_knob, shaping_of

DEFAULT_DRAFT, LOOKUP = "embedded:draft", "prompt lookup"
MAX_DRAFT, MAX_TOKENS, MAX_RUNS, MAX_TEMPERATURE, MAX_NGRAM = 16, 500, 5000, 10.0, 10
# The address holds the words on the right: that is how Streamlit binds options.
RULES: dict[str, str] = {"speculative": "Speculative", "exact": "Exact match", "typical": "Typical"}
SCORINGS = {"multi_query": "Multi-query", "batch_expansion": "Batch expansion"}
NAMES = ("A", "B", "C")
SHARED = {knob.key: knob for knob in KNOBS if knob.sampling_only}
DEFAULTS: dict[str, Any] = {
    "draft": DEFAULT_DRAFT,
    "draft_length": 5,
    "spec_tokens": 48,
    "rule": "speculative",
    "scoring": "multi_query",
    "own_temperature": False,
    "draft_temperature": 1.0,
    "adaptive": False,
    "confidence": 0.0,
    "ngram_size": 2,
    "typical_epsilon": 0.09,
    "typical_delta": 0.3,
    "repeats": 5,
    "runs": 400,
    "run_tokens": 3,
    "target_A": 0.6,
    "target_B": 0.3,
    "target_C": 0.1,
    "draft_A": 0.2,
    "draft_B": 0.5,
    "draft_C": 0.3,
}
_RULE_NOTES: dict[str, str] = {
    "speculative": "Keeps the target’s distribution: accepts with min(1, target_prob / "
    "draft_prob), else draws from the residual.",
    "exact": "Keeps the target’s distribution, accepts less: the target’s own draw must be the "
    "drafted token.",
    "typical": "Does NOT keep the target’s distribution: accepts what the target finds likely "
    "enough.",
}
GREEDY_NOTE = "At temperature 0 every rule is greedy decoding: it keeps the target’s text."


def value(key: str) -> Any:
    """What a control of this page, or of all pages, says now."""
    return controls.value(key, DEFAULTS)


def config(read: Callable[[str], Any] = value) -> Speculative:
    """The run that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: settings outside their interval.
    """
    lookup, rule = read("draft") == LOOKUP, read("rule")
    own = bool(read("own_temperature")) and not lookup
    temperature = nearest_temperature(float(read("temperature")))
    heat = nearest_temperature(float(read("draft_temperature"))) if own else None
    # What does nothing stays neutral: it would stand in captions and ask for another run.
    acting: dict[str, Any] = {}
    if lookup:
        acting |= {"drafter": "prompt_lookup", "lookup_ngram": int(read("ngram_size"))}
    else:
        acting |= {"draft_temperature": heat, "draft_threshold": float(read("confidence"))}
    if rule == "typical":
        acting["posterior_threshold"] = float(read("typical_epsilon"))
        acting["posterior_alpha"] = float(read("typical_delta"))
    draws = temperature > 0 or heat
    return Speculative(
        draft_length=int(read("draft_length")),
        max_new_tokens=int(read("spec_tokens")),
        acceptance=rule,
        scoring=read("scoring"),
        adaptive=bool(read("adaptive")),
        seed=int(read("seed")),
        shaping=shaping_of(SHARED.values(), read) if draws else Shaping(temperature=0.0),
        **acting,
    )


def draft() -> str:
    """The chosen draft model; empty where tokens are looked up in the text."""
    chosen = str(value("draft")).strip() or DEFAULT_DRAFT
    return "" if chosen == LOOKUP else chosen


def request() -> Request:
    """What Run asks for under the controls as they are."""
    return controls.request_for(config(), draft())


def _bound(key: str, help: str | None = None) -> dict[str, Any]:
    return {"key": key, "bind": "query-params", "persist_state": "session", "help": help}


def pair() -> None:
    """Who drafts, how many tokens, and what is rarely touched."""
    options = [DEFAULT_DRAFT, *(m for m in models.options() if m != DEFAULT_DRAFT), LOOKUP]
    st.selectbox(
        "Draft",
        options,
        accept_new_options=True,
        width=260,
        **_bound(
            "draft",
            "The model that proposes; the target is the sidebar’s model. Both must have the same "
            "tokenizer. Prompt lookup needs no model: it repeats what followed the last tokens "
            "earlier in the text.",
        ),
    )
    _whole("Draft length", 1, MAX_DRAFT, "draft_length")
    _whole("New tokens", 1, MAX_TOKENS, "spec_tokens")
    with st.popover("More settings", icon=":material/tune:"):
        _more()


def rule() -> None:
    """The temperature, and what decides over a drafted token, with what that does to the text."""
    with st.container(key="spec-rule", horizontal=True, vertical_alignment="center", gap="medium"):
        _knob("temperature", width=210)
        st.segmented_control(
            "Acceptance",
            list(RULES),
            format_func=RULES.__getitem__,
            default=DEFAULTS["rule"],
            required=True,
            **_bound("rule"),
        )
        chosen = str(value("rule"))
        with st.container(key="rule-lossy" if lossy() else "rule-lossless"):
            st.text(GREEDY_NOTE if _greedy() else _RULE_NOTES[chosen])


def _greedy() -> bool:
    return nearest_temperature(float(value("temperature"))) == 0


def lossy() -> bool:
    """Whether the rule changes the distribution, by the controls as they are."""
    return value("rule") == "typical" and not _greedy()


def acceptance() -> Acceptance:
    """The chosen rule."""
    chosen: Acceptance = value("rule")
    return chosen


def _knob(key: str, width: int | None = None) -> None:
    with st.container(key=f"knob-{key}", gap=None, width=width or "stretch"):
        draw_knob(SHARED[key], disabled=False)


def _whole(label: str, low: int, high: int, key: str, help: str | None = None) -> None:
    st.number_input(label, low, high, DEFAULTS[key], 1, width=150, **_bound(key, help))


def _real(label: str, high: float, key: str, help: str, *, step: float = 0.01) -> None:
    st.number_input(label, 0.0, high, DEFAULTS[key], step, **_bound(key, help))


def _more() -> None:
    for key in ("top_k", "top_p", "min_p"):
        _knob(key)
    st.segmented_control(
        "Scoring",
        list(SCORINGS),
        format_func=SCORINGS.__getitem__,
        default=DEFAULTS["scoring"],
        required=True,
        **_bound(
            "scoring",
            "One sequence with a query for each position, or one sequence for each position: the "
            "same result, other work.",
        ),
    )
    st.toggle(
        "Adaptive draft length",
        False,
        **_bound(
            "adaptive",
            "Two more after a round that was accepted whole, else one less (transformers’ "
            "heuristic).",
        ),
    )
    # What would do nothing is left out.
    if value("draft") == LOOKUP:
        words = "The longest run of last tokens that prompt lookup searches for."
        _whole("Lookup n-gram", 1, MAX_NGRAM, "ngram_size", words)
    else:
        _more_of_the_draft()
    if value("rule") == "typical":
        formula = "Typical acceptance: the threshold is min(epsilon, delta × exp(−entropy))."
        _real("Epsilon", MAX_POSTERIOR, "typical_epsilon", formula)
        _real("Delta", MAX_POSTERIOR, "typical_delta", formula, step=0.05)


def _more_of_the_draft() -> None:
    words = "Drafting ends behind a token that the draft gives less. 0 is off."
    _real("Confidence threshold", 1.0, "confidence", words, step=0.05)
    st.toggle("The draft has its own temperature", False, **_bound("own_temperature"))
    if value("own_temperature"):
        words = "0 lets the draft take its most probable token."
        _real("Draft temperature", MAX_TEMPERATURE, "draft_temperature", words, step=0.1)


def repeats() -> None:
    """How many runs of each are timed."""
    _whole("Runs", 1, 100, "repeats")


def samples() -> None:
    """How many short runs of each method are counted, and how long they are."""
    _whole("Runs", 20, MAX_RUNS, "runs")
    # With room for one token nothing would be drafted.
    _whole("Tokens", 2, 8, "run_tokens")


def weights(model: str) -> list[float]:
    """The three numbers of a model (`target` or `draft`) in the enumeration, as typed."""
    return [float(value(f"{model}_{name}")) for name in NAMES]


def three_tokens() -> None:
    """The probabilities of three tokens in both models."""
    for model in ("target", "draft"):
        with st.container(
            key=f"three-{model}",
            horizontal=True,
            wrap=False,
            vertical_alignment="center",
            gap="small",
        ):
            st.markdown(f"**{model.capitalize()}**", width=60)
            for name in NAMES:
                key = f"{model}_{name}"
                st.number_input(name, 0.0, 1.0, DEFAULTS[key], 0.05, **_bound(key))


def reached(trace: Trace) -> dict[str, Any]:
    """What the controls say where they describe a run, by their keys; those that it lies beyond,
    and models that a file may not make the app load, are left out."""
    asked = trace.config
    assert isinstance(asked, Speculative)
    own = asked.draft_temperature is not None
    told = {
        "prompt": trace.prompt[: controls.MAX_PROMPT],
        "chat": False,
        "seed": min(asked.seed, controls.MAX_SEED),
        "draft_length": min(asked.draft_length, MAX_DRAFT),
        "spec_tokens": min(asked.max_new_tokens, MAX_TOKENS),
        "rule": asked.acceptance,
        "scoring": asked.scoring,
        "own_temperature": own,
        "adaptive": asked.adaptive,
        "confidence": asked.draft_threshold,
        "ngram_size": min(asked.lookup_ngram, MAX_NGRAM),
        "typical_epsilon": asked.posterior_threshold,
        "typical_delta": asked.posterior_alpha,
    }
    if own:
        told["draft_temperature"] = min(float(asked.draft_temperature or 0.0), MAX_TEMPERATURE)
    if models.is_embedded(trace.model_id):
        told["model"] = trace.model_id
    if asked.drafter == "prompt_lookup":
        told["draft"] = LOOKUP
    elif models.is_embedded(trace.draft_id):
        told["draft"] = trace.draft_id
    for key, knob in SHARED.items():
        held = float(getattr(asked.shaping, knob.field))
        if knob.low <= held <= knob.typed_high:
            told[key] = held
    return told


def adopt(trace: Trace) -> None:
    """Set the controls to what a run was made with, as far as they reach."""
    for key, held in reached(trace).items():
        if key in SHARED:
            set_knob(SHARED[key], held)
        else:
            st.session_state[key] = held


def request_like(trace: Trace, wanted: Request) -> Request:
    """What the controls, as they are in `wanted`, would ask for after `adopt`."""
    told = reached(trace)
    chosen = told.get("draft", wanted.draft)
    return replace(
        wanted,
        model=told.get("model", wanted.model),
        prompt=told["prompt"],
        config=config(lambda key: told.get(key, value(key))),
        chat=False,
        draft="" if chosen == LOOKUP else chosen,
    )
