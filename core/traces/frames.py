"""Tables of a trace as pandas DataFrames: steps, candidates, stages, prompt, beams and rounds.

Every table is declared once: its columns with their dtypes and words, and the function of its rows.
A column has the name of the trace's field. Missing values are pandas' own (`NA`, `NaN`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..decoding.errors import TraceError
from ..decoding.record.trace import Trace
from ..language import N_, Message

if TYPE_CHECKING:
    import pandas as pd

TEXT, NUMBER, WHOLE, MAYBE, YES = "str", "float64", "int64", "Int64", "bool"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        dtype: its pandas dtype; `Int64` where a value may be missing.
        words: what it holds, with its unit.
    """

    dtype: str
    words: str


@dataclass(frozen=True, slots=True)
class RunTable:
    """A table of a trace.

    Args:
        words: what one row is.
        columns: by name, in their order.
        rows: yields the values of each row, in the order of the columns.
    """

    words: str
    columns: Mapping[str, Column]
    rows: Callable[[Trace], Iterator[tuple[Any, ...]]]


_STEP = Column(WHOLE, "index of the generated token; 0 is the first")
_TOKEN = {
    "token_id": Column(WHOLE, "id in the model's vocabulary"),
    "text": Column(TEXT, "the token as it is displayed; a part of a character as bytes"),
}
_RANK = Column(WHOLE, "rank by the model's own probability; 1 is the most probable")


def _steps(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for step in trace.token_steps:
        chosen = step.chosen
        final = step.stages[-1]
        yield (
            *(step.index, step.token_id, chosen.text, step.origin, step.phase, chosen.rank),
            *(chosen.raw_prob, chosen.prob, step.surprisal, step.entropy, final.kept),
            *(step.draw.uniform, step.seconds.forward, step.seconds.shaping, step.seconds.draw),
        )


def _candidates(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for step in trace.token_steps:
        for one in step.candidates:
            yield step.index, *one, one.token_id == step.token_id


def _stages(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for step in trace.token_steps:
        place = [one.token_id for one in step.candidates].index(step.token_id)
        for order, stage in enumerate(step.stages):
            yield (
                *(step.index, order, stage.name, stage.kept, stage.removed_mass),
                *(stage.tail_mass, stage.probs[place], stage.noise, stage.state),
            )


def _prompt(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for at in trace.prompt_step.positions if trace.prompt_step else ():
        best = at.candidates[0]
        yield (
            *(at.index, at.token_id, at.text, at.entropy, best.token_id, best.text, best.raw_prob),
            *(at.next_token_id, at.next_prob, at.next_rank),
        )


def _beams(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for step in trace.beam_steps:
        for one in step.candidates:
            yield step.index, step.groups[one.parent], *one


def _rounds(trace: Trace) -> Iterator[tuple[Any, ...]]:
    for at, step in enumerate(trace.rounds):
        for position, one in zip(step.depths, step.drafted, strict=True):
            yield (
                *(at, position, one.token_id, one.text, one.draft_prob, one.target_prob),
                *(one.accept_prob, one.uniform, one.outcome, one.residual_mass),
            )
        if step.extra is not None:
            extra = step.extra
            yield (
                *(at, len(step.accepted), extra.token_id, extra.text, extra.draft_prob),
                *(extra.target_prob, None, extra.uniform, "added", None),
            )


TABLES: dict[str, RunTable] = {
    "steps": RunTable(
        "one generated token",
        {
            "step": _STEP,
            **_TOKEN,
            "origin": Column(TEXT, "argmax, sampled, forced or server"),
            "phase": Column(TEXT, "thinking or answer"),
            "rank": _RANK,
            "raw_prob": Column(NUMBER, "the model's probability of the token"),
            "prob": Column(NUMBER, "its probability after the shaping"),
            "surprisal": Column(NUMBER, "-ln raw_prob, nats"),
            "entropy": Column(NUMBER, "entropy of the model's distribution, nats"),
            "kept": Column(WHOLE, "number of tokens that the shaping left"),
            "uniform": Column(NUMBER, "number in [0, 1) of the draw; missing if none was used"),
            "forward_seconds": Column(NUMBER, "seconds of the model's forward"),
            "shaping_seconds": Column(NUMBER, "seconds of the shaping"),
            "draw_seconds": Column(NUMBER, "seconds of the draw"),
        },
        _steps,
    ),
    "candidates": RunTable(
        "one candidate of a step",
        {
            "step": _STEP,
            **_TOKEN,
            "rank": _RANK,
            "logit": Column(NUMBER, "the model's logit, before any shaping"),
            "raw_prob": Column(NUMBER, "the model's probability"),
            "prob": Column(NUMBER, "its probability after the shaping"),
            "removed_by": Column(TEXT, "the stage that removed it; missing if none did"),
            "chosen": Column(YES, "whether the step emitted it"),
        },
        _candidates,
    ),
    "stages": RunTable(
        "one distribution of a step, from the model's own (raw) to the final one",
        {
            "step": _STEP,
            "stage_index": Column(WHOLE, "its place among the step's stages; 0 is raw"),
            "stage": Column(TEXT, "its name"),
            "kept": Column(WHOLE, "number of tokens that are not removed"),
            "removed_mass": Column(NUMBER, "probability that this stage removed"),
            "tail_mass": Column(NUMBER, "probability of all tokens outside the candidates"),
            "chosen_prob": Column(NUMBER, "probability of the emitted token in it"),
            "noise": Column(NUMBER, "the stage's own number in [0, 1); missing if it has none"),
            "state": Column(NUMBER, "what the stage took over from the step before, or missing"),
        },
        _stages,
    ),
    "prompt": RunTable(
        "one token of the prompt",
        {
            "position": Column(WHOLE, "index in the prompt; 0 is the first token"),
            **_TOKEN,
            "entropy": Column(NUMBER, "entropy of the prediction after it, nats"),
            "best_token_id": Column(WHOLE, "the most probable next token"),
            "best_text": Column(TEXT, "its text"),
            "best_prob": Column(NUMBER, "its probability"),
            "next_token_id": Column(MAYBE, "the prompt's next token; missing at the last one"),
            "next_prob": Column(NUMBER, "its probability"),
            "next_rank": Column(MAYBE, "its rank"),
        },
        _prompt,
    ),
    "beams": RunTable(
        "one candidate of a step of a beam search",
        {
            "step": _STEP,
            "group": Column(WHOLE, "the beam group"),
            "rank": Column(WHOLE, "rank in its group, from 1"),
            "parent": Column(WHOLE, "the row of this step's beam that it extends"),
            **_TOKEN,
            "logprob": Column(NUMBER, "its contribution to the path's score, nats"),
            "raw_logprob": Column(NUMBER, "the model's log-probability, nats"),
            "cum_logprob": Column(NUMBER, "sum of logprob over the path, nats"),
            "fate": Column(TEXT, "kept, finished or pruned"),
            "row": Column(MAYBE, "its row of the next beam; missing if it has none"),
            "ended": Column(TEXT, "what ends the path with it; missing if nothing does"),
        },
        _beams,
    ),
    "rounds": RunTable(
        "one drafted token of a round of speculative decoding, or the token that the target added",
        {
            "round": Column(WHOLE, "index of the round; 0 is the first"),
            "position": Column(WHOLE, "index in the round; the candidates of a tree share it"),
            **_TOKEN,
            "draft_prob": Column(NUMBER, "probability with which the draft proposed it"),
            "target_prob": Column(NUMBER, "the target's probability"),
            "accept_prob": Column(NUMBER, "probability of its acceptance; missing if it was added"),
            "uniform": Column(NUMBER, "number in [0, 1) of the verification or the draw"),
            "outcome": Column(TEXT, "accepted, rejected, not_reached or added"),
            "residual_mass": Column(NUMBER, "probability that a token drafted here is rejected"),
        },
        _rounds,
    ),
}


def to_frame(trace: Trace, rows: str = "steps") -> pd.DataFrame:
    """Return a table of a trace; it has no rows if the method has no such records.

    Args:
        rows: a key of `TABLES`.

    Raises:
        TraceError: there is no such table.
    """
    import pandas as pd

    table = TABLES.get(rows)
    if table is None:
        raise TraceError(
            Message(
                "A trace has no table {rows!r}; it has {tables}.",
                rows=rows,
                tables=", ".join(TABLES),
            )
        )
    columns = list(zip(*table.rows(trace), strict=True)) or [()] * len(table.columns)
    return pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=column.dtype)
            for (name, column), values in zip(table.columns.items(), columns, strict=True)
        }
    )


def runs_to_frame(traces: Iterable[Trace], rows: str = "steps") -> pd.DataFrame:
    """Return a table of several traces, with each run's index and the settings that differ.

    The first column is `run`, from 0. `model_id`, `prompt` and every field of the config that
    isn't equal in all traces are columns behind it.

    Args:
        rows: a key of `TABLES`.

    Raises:
        TraceError: there is no such table, no trace, or something else than traces.

    Example:
        >>> model = load_model("embedded:target")
        >>> configs = [Sampling(seed=seed, max_new_tokens=4) for seed in (1, 2)]
        >>> runs = [collect(model, "One day", config) for config in configs]
        >>> frame = runs_to_frame(runs)
        >>> frame.groupby("seed")["surprisal"].mean().round(2).to_dict()
        {1: 0.69, 2: 1.99}
    """
    import pandas as pd

    runs = list(traces)
    if not runs:
        raise TraceError(N_("There is no trace to make a table of."))
    if not all(isinstance(run, Trace) for run in runs):
        raise TraceError(
            N_(
                "Give a list of traces, such as runs_to_frame([trace]); read_trace and "
                "Trace.from_jsonl read files."
            )
        )
    settings = [
        {"model_id": run.model_id, "prompt": run.prompt, **_settings(run.to_dict()["config"])}
        for run in runs
    ]
    names = dict.fromkeys(name for each in settings for name in each)
    differing = [name for name in names if len({repr(each.get(name)) for each in settings}) > 1]
    frames = []
    for at, (run, each) in enumerate(zip(runs, settings, strict=True)):
        frame = to_frame(run, rows)
        for place, name in enumerate(differing):
            frame.insert(place, name, [each.get(name)] * len(frame))
        frame.insert(0, "run", at)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config's values by field; those of the shaping stand among them."""
    shaping = config.get("shaping", {})
    plain = {**{name: config[name] for name in config if name != "shaping"}, **shaping}
    return {name: _cell(value) for name, value in plain.items()}


def _cell(value: Any) -> Any:
    """Return a number or a text as it is, and JSON of a list or a mapping."""
    return json.dumps(value) if isinstance(value, list | Mapping) else value


_INTRODUCTION = """# DataFrames

A trace gives its records as pandas DataFrames: `trace.to_pandas("steps")`.
`runs_to_frame(traces, "steps")` puts several runs into one, with a column `run` and a column for
each setting that differs between them.

```python
from core import Sampling, Shaping, collect, load_model, runs_to_frame

model = load_model("embedded:target")
prompts = ("Once upon a time", "A list of colors: red,")
configs = [Sampling(seed=1, max_new_tokens=20, shaping=Shaping(temperature=t)) for t in (0.5, 1.0)]
runs = [collect(model, prompt, config) for config in configs for prompt in prompts]
frame = runs_to_frame(runs)
print(frame.groupby(["temperature", "step"])["entropy"].mean().unstack(0).head(3))
```

Where the wheel is installed, the name is `decoding_explorer` instead of `core`.
`frame.to_parquet("runs.parquet")` stores one; the extra `[app]` brings pyarrow, which that needs.
`python -m core.traces.frames > docs/dataframes.md` writes this page.
"""


def document() -> str:
    """Return the reference of the tables as Markdown."""
    parts = [_INTRODUCTION]
    for name, table in TABLES.items():
        rows = [f"| `{key}` | {one.dtype} | {one.words} |" for key, one in table.columns.items()]
        head = [f"## {name}", "", f"A row is {table.words}.", "", "| column | dtype | holds |"]
        parts.append("\n".join([*head, "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    print(document(), end="")
