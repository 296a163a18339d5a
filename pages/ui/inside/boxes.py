"""Boxes of the diagram: the content of each, and the functions that a click on it lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.decoding.counting import counted, nth
from core.decoding.record.steps import Candidate, TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.labels import (
    percent,
    settings_caption,
    stage_name,
    stage_setting,
    visible_token,
)
from core.figures.constraint.words import share_words
from core.installation import COMMAND
from core.language import N_, Message, tr, trn
from core.traces.data_path.steps import calls_in, calls_of, prompt_call, step_call
from core.traces.data_path.types import FunctionCall
from pages.ui.inside.rows import Data, FunctionRows, box, chip
from pages.ui.inside.work import Recorded
from pages.ui.run.display import panel
from pages.ui.run.figures.token_strip import ending

_SHOWN, _TOKENS, _TEXT = 5, 12, 200
_LOADED = N_("The app loads a model once and keeps it for all visitors.")
_NO_CHAT = N_("No chat template: the text goes to the tokenizer as it is.")


class Picture(NamedTuple):
    """Data of the component that draws the boxes.

    Args:
        places: file and line of the functions, by the ids of their rows.
    """

    before: list[Data]
    prompt: Data
    loop: str
    inside: list[Data]
    after: list[Data]
    places: dict[str, tuple[str, int]]


def picture(trace: Trace, step: TokenStep, recorded: Recorded | None, waiting: str) -> Picture:
    """The way from the text to the token and back to text, with a step's values.

    Args:
        recorded: the recording; None until it is there.
        waiting: why there are no functions yet.
    """
    rows = FunctionRows()
    calls: Sequence[FunctionCall] = recorded.path.calls if recorded else ()
    started = prompt_call(recorded.path) if recorded else None
    made = step_call(recorded.path, step.index) if recorded else None
    note = waiting if recorded is None else ""
    before = [
        _load(trace, recorded) | rows.of("load", []),
        _request(trace) | rows.of("request", calls_in(calls, "request")),
        _chat(trace) | rows.of("chat", calls_in(calls, "chat")),
        _encode(trace) | rows.of("ids", calls_in(calls, "ids")),
    ]
    prompt = _prompt(started, recorded) | rows.of("prompt", [started] if started else [])
    late = "" if made or recorded is None else tr("This step lies beyond what is recorded here.")
    acts = {
        "forward": _forward(trace, step, recorded, started if step.index == 0 else made),
        "logits": _logits(step),
        "shaping": _shaping(trace, step),
        "draw": _draw(trace, step),
        "text": _text(trace, step),
    }
    forward_calls = [] if step.index == 0 else _acts(made, "forward")
    calls_by_box = {
        "forward": forward_calls,
        "logits": [],
        "shaping": _acts(made, "shaping"),
        "draw": _acts(made, "draw"),
        "text": [*_acts(made, "text"), *_acts(made, "record")],
    }
    inside = [
        made_box | rows.of(name, calls_by_box[name]) | _note(note or late)
        for name, made_box in acts.items()
    ]
    after = [
        _finish(trace) | rows.of("finish", calls_in(calls, "finish")),
        _answer(trace) | rows.of("answer", calls_in(calls, "answer")),
    ]
    return Picture(
        [one | _note(note) for one in before],
        prompt | _note(note),
        _loop_words(trace, step),
        inside,
        [one | _note(note) for one in after],
        rows.places,
    )


def _note(note: str) -> Data:
    return {"note": note} if note else {}


def _acts(made: FunctionCall | None, act: Any) -> list[FunctionCall]:
    return calls_of(made, act) if made else []


def _load(trace: Trace, recorded: Recorded | None) -> Data:
    pairs = [(tr("model"), visible_token(trace.model_id, 80))]
    if recorded is not None:
        pairs.append((tr("class"), (facts := recorded.model).kind))
        if facts.parameters:
            pairs.append((tr("parameters"), f"{facts.parameters:,}"))
        if facts.layers and facts.width:
            layers = tr("{layers} of width {width}", layers=facts.layers, width=facts.width)
            pairs.append((tr("layers"), layers))
        pairs.append((tr("vocabulary"), tr(counted(facts.vocabulary, "token"))))
        pairs.append((tr("numbers"), facts.dtype))
        pairs.append((tr("its loading is recorded by"), f"{COMMAND} path"))
    return box(tr("Model and tokenizer are loaded"), *pairs, words=tr(_LOADED))


def _request(trace: Trace) -> Data:
    words, config = N_("The values of the controls become the settings of the run."), trace.config
    if config.can_draw and config.shaping.temperature == 0:
        words = N_("Temperature 0 means greedy decoding: nothing is drawn.")
    pair = (tr("settings"), settings_caption(trace))
    return box(tr("The request becomes settings"), pair, words=tr(words))


def _chat(trace: Trace) -> Data:
    if trace.rendered_prompt in ("", trace.prompt):
        return box(tr("Chat template"), words=tr(_NO_CHAT))
    return box(
        tr("The chat template writes one text"),
        (tr("text"), ending(trace.rendered_prompt, _TEXT)),
        words=tr("The template puts its marks around the messages and joins them."),
    )


def _encode(trace: Trace) -> Data:
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    shown = [chip(visible_token(p.text, 16), str(p.token_id)) for p in positions[:_TOKENS]]
    more = len(trace.prompt_ids) - len(shown)
    text = ending(trace.rendered_prompt or trace.prompt, _TEXT)
    tokens = counted(len(trace.prompt_ids), "token")
    return box(
        tr("Text becomes ids"),
        (tr("text"), text),
        (tr("ids"), tr("{tokens}, {more} more", tokens=tokens, more=more) if more else tr(tokens)),
        words=tr(
            "The tokenizer cuts the text into {tokens}, each with its number in the vocabulary.",
            tokens=tokens,
        ),
        chips=shown,
    )


def _prompt(started: FunctionCall | None, recorded: Recorded | None) -> Data:
    pairs = _shapes(started, recorded)
    words = tr("The whole prompt goes through the model at once; its last position gives step 1.")
    return box(tr("The prompt goes first"), *pairs, words=words)


def _forward(
    trace: Trace, step: TokenStep, recorded: Recorded | None, made: FunctionCall | None
) -> Data:
    pairs = _shapes(made, recorded)
    read = trace.prompt_ids[-1:] if step.index == 0 else trace.token_ids[step.index - 1 :]
    words = (
        tr("The prompt's own forward gave these logits.")
        if step.index == 0
        else tr("The token of the step before, id {token_id}, goes through the model.",
                token_id=read[0])
    )  # fmt: skip
    return box(tr("Forward: ids become logits"), *pairs, words=words)


def _shapes(call: FunctionCall | None, recorded: Recorded | None) -> list[tuple[str, str]]:
    """From the ids' shape to the logits', and what the cache held before and after."""
    calls = call.walk() if call else ()
    inner = next((c for c in calls if c.function.endswith("._forward")), None)
    if inner is None or recorded is None:
        return []
    arguments = dict(inner.arguments)
    ids, logits = (_sizes(text) for text in (arguments.get("ids", ""), inner.result))
    facts = recorded.model
    shapes = [f"ids {ids}"]
    if facts.layers and facts.width and ids:
        sizes = [*ids, facts.width]
        shapes.append(tr("{sizes} × {layers} layers", sizes=sizes, layers=facts.layers))
    shapes.append(f"logits {logits}")
    cache = arguments.get("cache", "")
    cached = tr("none: every token goes through the model again")
    if " of " in cache and ids:
        before = int(cache.split()[-2])
        cached = f"{before} → {tr(counted(before + ids[-1], 'token'))}"
    return [(tr("shapes"), " → ".join(shapes)), (tr("KV cache"), cached)]


def _sizes(text: str) -> list[int]:
    """The sizes in a tensor's short form, such as "int64 [1, 4]"."""
    sizes = text.rpartition("[")[2].rstrip("]")
    return [int(size) for size in sizes.split(",")] if "[" in text and sizes else []


def _first_candidates(step: TokenStep) -> list[Candidate]:
    shown = list(step.candidates[:_SHOWN])
    return shown if step.chosen in shown else [*shown, step.chosen]


def _logits(step: TokenStep) -> Data:
    shown = _first_candidates(step)
    chips = [
        chip(visible_token(c.text, 16), f"{c.logit:.2f}", chosen=c.token_id == step.token_id)
        for c in shown
    ]
    highest = [c for at, c in enumerate(shown, start=1) if c.rank == at]
    shown_words = (
        tr("the highest {count}", count=len(highest))
        if step.chosen in highest
        else tr("the highest {count} and the chosen token's", count=len(highest))
    )
    words = tr(
        "The model gives every token a number; the chosen one's has rank {rank:,}.",
        rank=step.chosen.rank,
    )
    pair = (tr("shown"), shown_words)
    return box(tr("Logits: a number for every token"), pair, words=words, chips=chips)


def _shaping(trace: Trace, step: TokenStep) -> Data:
    names = [stage_setting(s.name, trace.config) for s in step.stages[1:-1]]
    chips = []
    for candidate in _first_candidates(step):
        out = candidate.removed_by
        value = tr("out: {stage}", stage=stage_name(out)) if out else percent(candidate.prob)
        chosen = candidate.token_id == step.token_id
        share = None if out else candidate.prob
        chips.append(chip(visible_token(candidate.text, 16), value, share, chosen=chosen))
    words = N_("Softmax turns the logits into probabilities.")
    if names:
        words = N_(
            "Softmax turns the logits into probabilities, and each setting changes their "
            "distribution."
        )
    pairs = [(tr("distributions"), " → ".join([tr("raw"), *names]))]
    if allowed := share_words(trace, step):
        pairs.append((tr("constraint"), allowed))
    title = tr("Shaping: logits become probabilities")
    return box(title, *pairs, words=tr(words), chips=chips)


def _draw(trace: Trace, step: TokenStep) -> Data:
    token = visible_token(step.chosen.text, 24)
    draw = step.draw
    place = tr("{token} (id {token_id}, rank {rank:,})", token=token, token_id=step.token_id,
        rank=step.chosen.rank)  # fmt: skip
    pairs = [(tr("token"), place)]
    if step.origin == "forced":
        words = tr("The method put this token there, whatever was drawn.")
    elif step.origin == "server":
        words = tr("The server drew it, with dice of its own.")
    elif draw.method == "argmax":
        words = tr("Nothing is drawn: the most probable token wins.")
    elif draw.uniform is not None and draw.interval is not None:
        low, high = draw.interval
        number = tr("The random number {number:.4f} falls on {token}.", number=draw.uniform,
            token=token)  # fmt: skip
        words = number
        part = tr("{low:.4f} to {high:.4f}", low=low, high=high)
        pairs.insert(0, (tr("number"), f"{draw.uniform:.4f}"))
        pairs.insert(1, (tr("its part of the cumulative bar"), part))
    else:
        words = tr("Noise is added to every ln p, and {token} has the highest sum.", token=token)
    if hasattr(trace.config, "seed") and draw.method != "argmax":
        pairs.insert(0, (tr("seed"), str(trace.config.seed)))
    return box(tr("Draw: one token"), *pairs, words=words)


def _text(trace: Trace, step: TokenStep) -> Data:
    so_far = "".join(shown.text for shown in trace.token_steps[: step.index + 1])
    added = visible_token(step.text, 40) if step.text else tr("nothing yet: half a character")
    return box(
        tr("Append: the id joins the text"),
        (tr("added"), added),
        (tr("text so far"), ending(so_far, _TEXT)),
        words=tr("{token} joins the text, and the next forward reads it.", token=added)
        if step.text
        else tr("Its text follows with the next token, as it is half a character."),
    )


def _loop_words(trace: Trace, step: TokenStep) -> str:
    count = len(trace.token_steps)
    return trn(
        "The loop ran {count} time: one forward pass for each token. Open here: step {nth} of "
        "{count}.",
        "The loop ran {count} times: one forward pass for each token. Open here: step {nth} of "
        "{count}.",
        count,
        nth=nth(step.index),
    )


def _finish(trace: Trace) -> Data:
    tokens, reason = counted(len(trace.token_ids), "token"), trace.finish_reason
    words = tr("The run ends after {tokens}: {reason}.", tokens=tokens,
        reason=Message(panel.ENDED[reason]))  # fmt: skip
    return box(tr("The run ends"), (tr("finish reason"), reason), words=words)


def _answer(trace: Trace) -> Data:
    return box(
        tr("Ids become text again: the answer"),
        (tr("text"), ending(trace.text, _TEXT)),
        words=tr("The tokenizer decodes all ids of the run together."),
    )
