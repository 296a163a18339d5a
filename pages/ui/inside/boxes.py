"""Boxes of the diagram: the content of each, and the functions that a click on it lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from core.decoding.counting import counted, duration, place_of
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
from core.traces.data_path.fold import FoldedRow, fold
from core.traces.data_path.steps import calls_in, calls_of, prompt_call, step_call
from core.traces.data_path.types import FunctionCall
from pages.ui.inside.work import Recorded
from pages.ui.run.display import panel
from pages.ui.run.figures.token_strip import ending

Data: TypeAlias = dict[str, Any]
_SHOWN, _TOKENS, _TEXT = 5, 12, 200
_DEEPEST, _MOST_ROWS = 7, 400
# The parts of a run; the loop, the fifth, is numbered where it is drawn.
_NUMBERS = {"load": "1", "request": "2", "chat": "3", "ids": "4", "finish": "6", "answer": "7"}
_LOADED = "The app loads a model once and keeps it for all visitors."
_NO_CHAT = "No chat template: the text goes to the tokenizer as it is."


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
    rows = _Rows()
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
    late = "" if made or recorded is None else "This step lies beyond what is recorded here."
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
        box | rows.of(name, calls_by_box[name]) | _note(note or late) for name, box in acts.items()
    ]
    after = [
        _finish(trace) | rows.of("finish", calls_in(calls, "finish")),
        _answer(trace) | rows.of("answer", calls_in(calls, "answer")),
    ]
    return Picture(
        [box | _note(note) for box in before],
        prompt | _note(note),
        _loop_words(trace, step),
        inside,
        [box | _note(note) for box in after],
        rows.places,
    )


def _note(note: str) -> Data:
    return {"note": note} if note else {}


def _acts(made: FunctionCall | None, act: Any) -> list[FunctionCall]:
    return calls_of(made, act) if made else []


class _Rows:
    """Rows of functions, numbered by their place in the picture."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, int]] = {}
        self._left = _MOST_ROWS

    def of(self, box: str, calls: Iterable[FunctionCall]) -> Data:
        """The rows of a box."""
        self._left = _MOST_ROWS
        recorded_calls = list(calls)
        seconds = sum(call.seconds for call in recorded_calls)
        took = duration(seconds) if recorded_calls else ""
        number = _NUMBERS.get(box, "")
        return {
            "id": box,
            "number": number,
            "took": took,
            "rows": self._rows(fold(recorded_calls), box, 0),
        }

    def _rows(self, rows: Sequence[FoldedRow], above: str, depth: int) -> list[Data]:
        if depth >= _DEEPEST:
            return []
        made = []
        for at, row in enumerate(rows):
            if self._left <= 0:
                break
            self._left -= 1
            made.append(self._row(row, f"{above}.{at}", depth))
        return made

    def _row(self, row: FoldedRow, name: str, depth: int) -> Data:
        inner = self._rows(row.inside(), name, depth + 1)
        call = row.first
        data: Data = {"id": name, "x": row.times, "ms": duration(row.seconds), "rows": inner}
        if len(row.functions) > 1:
            return data | {"name": f"loop: {', '.join(row.functions)}"}
        self.places[name] = (call.file, call.line)
        return data | {
            "name": call.function + (" (goes on)" if call.resumed else ""),
            "place": f"{call.file}:{call.line}",
            "in": [[key, text] for key, text in call.arguments],
            "out": "" if call.result == "None" else call.result,
        }


def _box(title: str, *pairs: tuple[str, str], words: str = "", chips: Sequence[Data] = ()) -> Data:
    return {"title": title, "words": words, "pairs": pairs, "chips": tuple(chips)}


def _chip(text: str, value: str, share: float | None = None, *, chosen: bool = False) -> Data:
    return {"text": text, "value": value, "share": share, "chosen": chosen}


def _load(trace: Trace, recorded: Recorded | None) -> Data:
    pairs = [("model", visible_token(trace.model_id, 80))]
    if recorded is not None:
        pairs.append(("class", (facts := recorded.model).kind))
        if facts.parameters:
            pairs.append(("parameters", f"{facts.parameters:,}"))
        if facts.layers and facts.width:
            pairs.append(("layers", f"{facts.layers} of width {facts.width}"))
        pairs += [("vocabulary", f"{facts.vocabulary:,} tokens"), ("numbers", facts.dtype)]
        pairs.append(("its loading is recorded by", f"{COMMAND} path"))
    return _box("Model and tokenizer are loaded", *pairs, words=_LOADED)


def _request(trace: Trace) -> Data:
    words, config = "The values of the controls become the settings of the run.", trace.config
    if config.can_draw and config.shaping.temperature == 0:
        words = "Temperature 0 means greedy decoding: nothing is drawn."
    return _box("The request becomes settings", ("settings", settings_caption(trace)), words=words)


def _chat(trace: Trace) -> Data:
    if trace.rendered_prompt in ("", trace.prompt):
        return _box("Chat template", words=_NO_CHAT)
    return _box(
        "The chat template writes one text",
        ("text", ending(trace.rendered_prompt, _TEXT)),
        words="The template puts its marks around the messages and joins them.",
    )


def _encode(trace: Trace) -> Data:
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    shown = [_chip(visible_token(p.text, 16), str(p.token_id)) for p in positions[:_TOKENS]]
    more = len(trace.prompt_ids) - len(shown)
    text = ending(trace.rendered_prompt or trace.prompt, _TEXT)
    return _box(
        "Text becomes ids",
        ("text", text),
        ("ids", counted(len(trace.prompt_ids), "token") + (f", {more} more" if more else "")),
        words="The tokenizer cuts the text into "
        f"{counted(len(trace.prompt_ids), 'token')}, each with its number in the vocabulary.",
        chips=shown,
    )


def _prompt(started: FunctionCall | None, recorded: Recorded | None) -> Data:
    pairs = _shapes(started, recorded)
    words = "The whole prompt goes through the model at once; its last position gives step 1."
    return _box("The prompt goes first", *pairs, words=words)


def _forward(
    trace: Trace, step: TokenStep, recorded: Recorded | None, made: FunctionCall | None
) -> Data:
    pairs = _shapes(made, recorded)
    read = trace.prompt_ids[-1:] if step.index == 0 else trace.token_ids[step.index - 1 :]
    words = (
        "The prompt's own forward gave these logits."
        if step.index == 0
        else f"The token of the step before, id {read[0]}, goes through the model."
    )
    return _box("Forward: ids become logits", *pairs, words=words)


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
        shapes.append(f"{[*ids, facts.width]} × {facts.layers} layers")
    shapes.append(f"logits {logits}")
    cache = arguments.get("cache", "")
    cached = "none: every token goes through the model again"
    if " of " in cache and ids:
        before = int(cache.split()[-2])
        cached = f"{before} → {counted(before + ids[-1], 'token')}"
    return [("shapes", " → ".join(shapes)), ("KV cache", cached)]


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
        _chip(visible_token(c.text, 16), f"{c.logit:.2f}", chosen=c.token_id == step.token_id)
        for c in shown
    ]
    highest = [c for at, c in enumerate(shown, start=1) if c.rank == at]
    shown_words = f"the highest {len(highest)}"
    if step.chosen not in highest:
        shown_words += " and the chosen token's"
    words = f"The model gives every token a number; the chosen one's has rank {step.chosen.rank:,}."
    return _box(
        "Logits: a number for every token", ("shown", shown_words), words=words, chips=chips
    )


def _shaping(trace: Trace, step: TokenStep) -> Data:
    names = [stage_setting(s.name, trace.config) for s in step.stages[1:-1]]
    chips = []
    for candidate in _first_candidates(step):
        out = candidate.removed_by
        value = f"out: {stage_name(out)}" if out else percent(candidate.prob)
        chosen = candidate.token_id == step.token_id
        share = None if out else candidate.prob
        chips.append(_chip(visible_token(candidate.text, 16), value, share, chosen=chosen))
    words = "Softmax turns the logits into probabilities"
    words += ", and each setting changes their distribution." if names else "."
    pairs = [("distributions", " → ".join(["raw", *names]))]
    if allowed := share_words(trace, step):
        pairs.append(("constraint", allowed))
    return _box("Shaping: logits become probabilities", *pairs, words=words, chips=chips)


def _draw(trace: Trace, step: TokenStep) -> Data:
    token = visible_token(step.chosen.text, 24)
    draw = step.draw
    pairs = [("token", f"{token} (id {step.token_id}, rank {step.chosen.rank:,})")]
    if step.origin == "forced":
        words = "The method put this token there, whatever was drawn."
    elif step.origin == "server":
        words = "The server drew it, with dice of its own."
    elif draw.method == "argmax":
        words = "Nothing is drawn: the most probable token wins."
    elif draw.uniform is not None and draw.interval is not None:
        low, high = draw.interval
        pairs.insert(0, ("number", f"{draw.uniform:.4f}"))
        words = f"The random number {draw.uniform:.4f} falls on {token}."
        pairs.insert(1, ("its part of the cumulative bar", f"{low:.4f} to {high:.4f}"))
    else:
        words = f"Noise is added to every ln p, and {token} has the highest sum."
    if hasattr(trace.config, "seed") and draw.method != "argmax":
        pairs.insert(0, ("seed", str(trace.config.seed)))
    return _box("Draw: one token", *pairs, words=words)


def _text(trace: Trace, step: TokenStep) -> Data:
    so_far = "".join(shown.text for shown in trace.token_steps[: step.index + 1])
    added = visible_token(step.text, 40) if step.text else "nothing yet: half a character"
    return _box(
        "Append: the id joins the text",
        ("added", added),
        ("text so far", ending(so_far, _TEXT)),
        words=f"{added} joins the text, and the next forward reads it."
        if step.text
        else "Its text follows with the next token, as it is half a character.",
    )


def _loop_words(trace: Trace, step: TokenStep) -> str:
    count = len(trace.token_steps)
    where = place_of("step", step.index, count)
    return (
        f"The loop ran {counted(count, 'time')}: one forward pass for each token. "
        f"Open here: {where}."
    )


def _finish(trace: Trace) -> Data:
    tokens, reason = counted(len(trace.token_ids), "token"), trace.finish_reason
    words = f"The run ends after {tokens}: {panel.ENDED[reason]}."
    return _box("The run ends", ("finish reason", reason), words=words)


def _answer(trace: Trace) -> Data:
    return _box(
        "Ids become text again: the answer",
        ("text", ending(trace.text, _TEXT)),
        words="The tokenizer decodes all ids of the run together.",
    )
