"""Forgeries of a trace file: one field at a time, or several that agree with each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from core import Trace, check
from core.decoding.protocol import LanguageModel

Path: TypeAlias = tuple[str | int, ...]
Json: TypeAlias = Any
_WORDS: dict[str, Sequence[str]] = {
    "finish_reason": ("eos", "stop", "length"),
    "ended": ("eos", "stop", "length"),
    "origin": ("argmax", "sampled", "forced", "server"),
    "phase": ("thinking", "answer"),
    "fate": ("kept", "finished", "pruned"),
    "outcome": ("accepted", "rejected", "not_reached"),
    "draft_end": ("length", "room", "confidence", "eos", "no_match", "no_token"),
    "acceptance": ("speculative", "exact", "typical"),
    "scoring": ("multi_query", "batch_expansion"),
    "draw": ("inverse_cdf", "gumbel", "multinomial"),
    "dtype": ("bfloat16", "float64"),
    "removed_by": ("top_k", "top_p", "argmax"),
}


class Forgery(NamedTuple):
    """A forged file; `where` is the field, with * for every place in a list."""

    where: str
    kind: str
    data: Json


def forgeries(data: Json, places: int) -> Iterator[Forgery]:
    """One thing forged in every field, at so many of the places where the field is."""
    by_field: defaultdict[tuple[str, str], list[tuple[Path, Json]]] = defaultdict(list)
    for path, value in _below(data):
        for kind, forged in _forged(path, value):
            by_field[_field(path), kind].append((path, forged))
    for (where, kind), ways in by_field.items():
        apart = max(1, len(ways) // places)
        for path, forged in ways[apart // 2 :: apart][:places]:
            yield Forgery(where, kind, _with(data, path, forged))


def _field(path: Path) -> str:
    return ".".join("*" if isinstance(part, int) else part for part in path)


def _below(data: Json, before: Path = ()) -> Iterator[tuple[Path, Json]]:
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        path = (*before, key)
        if path == ("checks",) or path in (("schema",), ("version",)):
            continue
        yield path, value
        if isinstance(value, dict | list):
            yield from _below(value, path)


def _with(data: Json, path: Path, value: Json) -> Json:
    """The same values but for one; what is on the way to it is copied."""
    if not path:
        return value
    copied = data.copy()
    copied[path[0]] = _with(data[path[0]], path[1:], value)
    return copied


def _forged(path: Path, value: Json) -> Iterator[tuple[str, Json]]:
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, str):
        others = _WORDS.get(name, (value + "!", value.upper(), value.replace(" ", "  "), "x"))
        yield from ((f"said {i}", changed) for i, changed in enumerate(others) if changed != value)
    elif isinstance(value, int):
        yield from (("more", value + 1), ("less", value - 1))
    elif isinstance(value, float):
        yield from (("more", value + 0.01), ("less", value - 0.01))
        # A smaller number is 0 but for rounding.
        yield from [("zero", 0.0)] if abs(value) > 1e-3 else []
    elif isinstance(value, dict) and _is_table(value):
        yield from _other_rows(value)
    elif isinstance(value, list):
        yield from _other_lists(value)
    if value is None:
        yield from (("given", 0), ("given half", 0.5), ("given text", "length"))
        yield "given two", [0.1, 0.6]
    else:
        yield "null", None


def _is_table(value: dict[str, Json]) -> bool:
    """A list of records is stored as a list for each of their fields."""
    lengths = {len(column) if isinstance(column, list) else -1 for column in value.values()}
    return len(lengths) == 1 and -1 not in lengths and len(value) > 1


def _other_rows(table: dict[str, list[Json]]) -> Iterator[tuple[str, Json]]:
    width = len(next(iter(table.values())))
    for kind, order in _other_lists(list(range(width))):
        yield kind, {name: [column[at] for at in order] for name, column in table.items()}


def _other_lists(value: list[Json]) -> Iterator[tuple[str, list[Json]]]:
    if value:
        yield "without last", value[:-1]
        yield "last twice", [*value, value[-1]]
    if len(value) > 1:
        yield "without first", value[1:]
        yield "without middle", value[: len(value) // 2] + value[len(value) // 2 + 1 :]
        yield "swapped", [*value[:-2], value[-1], value[-2]]


def together(data: Json) -> Iterator[Forgery]:
    """Forgeries in several places, so that the file agrees with itself."""
    yield from _prompts(data)
    yield from _endings(data)
    note = {**data, "notes": [*data["notes"], "Independently audited"]}
    yield Forgery("notes", "a note more", note)
    yield Forgery("model_id", "another", {**data, "model_id": "someone/else"})
    yield Forgery("versions", "another", {**data, "versions": {"torch": "9.9"}})
    yield from _without_rivals(data)
    yield from _renamed_tokens(data)


def _prompts(data: Json) -> Iterator[Forgery]:
    yield Forgery("prompt step", "removed", {**data, "steps": data["steps"][1:]})
    for step, position in ((0, -1), (-1, None))[not [*_positions(data)] :]:
        moved = deepcopy(data)
        record = moved["steps"][step]
        record = record if position is None else record["positions"][position]
        record["index"] += 1
        yield Forgery("index", f"of the last in step {step}", moved)
    for kind, change in (
        (
            "another",
            lambda text: text[::-1] if len(text) > 1 else chr(ord(text) + 1) if text else text,
        ),
        ("cut off", lambda text: text[:-1]),
        ("without its beginning", lambda text: text[1:]),
        ("upper case", str.upper),
        ("spaces", lambda text: text.replace(" ", "  ")),
        ("no spaces", lambda text: text.replace(" ", "")),
        ("full width", lambda text: re.sub("[!-~]", lambda c: chr(ord(c[0]) + 0xFEE0), text)),
    ):
        forged = {**data, "prompt": change(data["prompt"])}
        yield Forgery("prompt", kind, forged)
        seen = {**forged, "rendered_prompt": change(data["rendered_prompt"])}
        yield Forgery("prompt", f"{kind}, rendered too", seen)
        without = {**seen, "steps": data["steps"][1:]}
        yield Forgery("prompt", f"{kind}, without its step", without)
        whole = deepcopy(seen)
        for position in _positions(whole):
            position["text"] = change(position["text"])
        parts = "".join(position["text"] for position in _positions(whole))
        whole["prompt"] = whole["rendered_prompt"] = parts
        yield Forgery("prompt", f"{kind}, with positions", whole)


def _positions(data: Json) -> Iterator[Json]:
    if data["steps"] and data["steps"][0]["kind"] == "prompt":
        yield from data["steps"][0]["positions"]


def _endings(data: Json) -> Iterator[Forgery]:
    """A run that went past a stop string, or was cut off, or ends for a reason that isn't so."""
    text, steps = data["text"], data["steps"]
    stops = sorted({text[:1], text[: len(text) // 2][-1:], text[1:3]} - {""})
    for stop in stops:
        config = {**data["config"], "stop_strings": [stop]}
        yield Forgery(
            "ending", f"stop string {stops.index(stop)} passed", {**data, "config": config}
        )
    for reason in ("eos", "stop", "length"):
        forged = deepcopy({**data, "finish_reason": reason})
        forged["steps"][-1]["finish_reason"] = reason
        for hypothesis in forged.get("hypotheses", [])[:1]:
            hypothesis["finish_reason"] = reason
        yield Forgery("ending", f"said to be {reason}", forged)
        if reason == "stop" and text:
            config = {**data["config"], "stop_strings": [text[-1:]]}
            yield Forgery("ending", "stop string said late", {**forged, "config": config})
            config = {**data["config"], "stop_strings": [text[0]]}
            yield Forgery("ending", "first letter said to stop", {**forged, "config": config})
    if len(steps) > 2 and steps[-1]["kind"] == "token":
        for reason in ("eos", "stop", "length"):
            cut = deepcopy({**data, "steps": steps[:-1], "finish_reason": reason})
            cut["steps"][-1]["finish_reason"] = reason
            cut["token_ids"] = data["token_ids"][:-1]
            cut["text"] = "".join(step["text"] for step in cut["steps"][1:])
            yield Forgery("ending", f"cut off, {reason}", cut)


def _without_rivals(data: Json) -> Iterator[Forgery]:
    """The last candidate left out, in every step, with its mass in the tail."""
    forged = deepcopy(data)
    for step in forged["steps"]:
        if step["kind"] != "token":
            continue
        ids, at = step["candidates"]["token_id"], len(step["candidates"]["token_id"]) - 1
        if ids[at] == step["token_id"]:
            at -= 1
        if at < 0:
            continue
        step["tail_mass"] += step["candidates"]["raw_prob"][at]
        for column in step["candidates"].values():
            del column[at]
        for stage in step["stages"]:
            stage["tail_mass"] += stage["probs"].pop(at)
        if step["draw"].get("scores"):
            del step["draw"]["scores"][at]
    if forged != data:
        yield Forgery("candidates", "last one left out everywhere", forged)
    ranked = deepcopy(data)
    for step in ranked["steps"]:
        if step["kind"] == "token":
            step["candidates"]["rank"][-1] += 1
    if ranked != data:
        yield Forgery("candidates", "last rank worse everywhere", ranked)


def _renamed_tokens(data: Json) -> Iterator[Forgery]:
    """A token that was never emitted is shown as another text wherever it is shown."""
    emitted = {*data["token_ids"], *data["prompt_ids"]}

    def renamed(value: Json) -> Json:
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if not isinstance(value, dict):
            return value
        new = {key: renamed(item) for key, item in value.items()}
        if isinstance(value.get("token_id"), list) and "text" in value:
            new["text"] = [
                item if token in emitted else f"{item}!"
                for token, item in zip(value["token_id"], value["text"], strict=True)
            ]
        return new

    yield Forgery("token text", "renamed everywhere", renamed(data))


def failed(trace: Trace, *models: LanguageModel | None) -> set[str]:
    """Names of the checks that fail."""
    return {outcome.name for outcome in check(trace, *models) if not outcome.passed}


def forge(trace: Trace, at: int, **changes: Any) -> Trace:
    """The trace with fields of one of its steps, counted without the prompt's, changed."""
    steps = list(trace.steps)
    where = steps.index((trace.beam_steps or trace.token_steps)[at])
    steps[where] = replace(steps[where], **changes)
    return replace(trace, steps=tuple(steps))


def forge_position(trace: Trace, at: int, **changes: Any) -> Trace:
    """The trace with fields of a position of its prompt changed."""
    prompt = trace.steps[0]
    positions = list(prompt.positions)
    positions[at] = replace(positions[at], **changes)
    return replace(trace, steps=(replace(prompt, positions=tuple(positions)), *trace.steps[1:]))


def with_shaping(trace: Trace, **changes: Any) -> Trace:
    """The trace with other settings of its shaping."""
    config: Any = trace.config
    return replace(trace, config=replace(config, shaping=replace(config.shaping, **changes)))
