"""Plans of many runs: which settings, batches, threads and number types they have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

from ...language import N_, Message
from ..autoregressive.config import Greedy, Sampling, as_single_tokens, drawn_by
from ..config import MethodConfig
from ..errors import ConfigError
from ..shaping.config import KNOB_SETTINGS, Shaping
from ..validation import MAX_SEED, brief
from .types import MAX_MANY, shown

Vary: TypeAlias = Literal["nothing", "seed", "batch", "threads", "dtype", "all"]
VARY: tuple[Vary, ...] = ("nothing", "seed", "batch", "threads", "dtype", "all")
MOST_CELLS = 12
# Rows of one batch; more seeds take several batches.
MOST_ROWS = 20
ROWS_TRIED = (1, 2, 4, 8, 16)
ALL_THREADS = 0
THREADS_TRIED = (1, ALL_THREADS)
DTYPES_TRIED = ("float32", "bfloat16")
KNOB_NAMES = tuple(spec.field for spec in KNOB_SETTINGS)
_RANGE = re.compile(r"\s*(\S+)\s+to\s+(\S+)\s+in\s+(\d{1,2})\s*")
_LONGEST_VALUES = 200


class RunBatch(NamedTuple):
    """Runs that are computed together.

    Args:
        configs: one for each run that is kept.
        rows: rows of the batch; those without a config repeat the last one and are dropped.
        threads: number of torch's threads; None leaves it as it is, `ALL_THREADS` are as many as
            the process began with, two at least.
        dtype: number type of the weights; empty for the model's own.
    """

    configs: tuple[MethodConfig, ...]
    rows: int = 1
    threads: int | None = None
    dtype: str = ""


def again(
    config: MethodConfig,
    times: int,
    vary: Vary,
    threads: Sequence[int] = THREADS_TRIED,
    dtypes: Sequence[str] = DTYPES_TRIED,
) -> tuple[RunBatch, ...]:
    """Return the batches of one request that runs several times.

    Args:
        times: number of runs, shared equally among what varies.
        threads: numbers of threads to try.
        dtypes: number types to try.

    Raises:
        ConfigError: too many runs, or a seed that nothing draws with.
    """
    if not 2 <= times <= MAX_MANY:
        raise ConfigError(
            Message(
                "A request runs 2 to {max_many} times here, got {times}.",
                max_many=MAX_MANY,
                times=times,
            )
        )
    require_single(config)
    if vary == "seed":
        return tuple(_of_seeds(config, times))
    computing: dict[str, list[tuple[int, int | None, str]]] = {
        "nothing": [(1, 1, "")],
        "batch": [(rows, None, "") for rows in ROWS_TRIED],
        "threads": [(1, count, "") for count in threads],
        "dtype": [(1, None, dtype) for dtype in dtypes],
        "all": [
            (rows, count, dtype) for dtype, count, rows in product(dtypes, threads, ROWS_TRIED[::2])
        ],
    }
    tried = computing[vary][:times]
    batches = []
    for at, (rows, count, dtype) in enumerate(tried):
        share = times // len(tried) + (at < times % len(tried))
        for first in range(0, share, rows):
            batches.append(RunBatch((config,) * min(rows, share - first), rows, count, dtype))
    return tuple(batches)


def varies_computing(batches: Sequence[RunBatch]) -> bool:
    """Return whether one request runs several times, in other batches or with other threads."""
    configs = {config for batch in batches for config in batch.configs}
    return len(configs) == 1 and len({(batch.rows, batch.threads) for batch in batches}) > 1


def _of_seeds(config: MethodConfig, times: int) -> Iterator[RunBatch]:
    if drawn_by(config) is None or not isinstance(config, Sampling):
        raise ConfigError(
            N_(
                "Nothing is drawn at temperature 0, so the seed changes nothing: set a "
                "temperature, or let something else vary."
            )
        )
    configs = [replace(config, seed=(config.seed + at) % (MAX_SEED + 1)) for at in range(times)]
    for first in range(0, times, MOST_ROWS):
        rows = tuple(configs[first : first + MOST_ROWS])
        yield RunBatch(rows, len(rows))


def grid(config: MethodConfig, knobs: Mapping[str, Sequence[float]]) -> tuple[RunBatch, ...]:
    """Return the one batch of all combinations of one or two settings' values.

    Args:
        knobs: values by the settings' names in `Shaping`; the last one varies fastest.

    Raises:
        ConfigError: a setting that can't vary here, a wrong value, or too many combinations.
    """
    require_single(config)
    config = as_single_tokens(config, draws=True)
    typed = {name: _typed(name, values) for name, values in knobs.items()}
    cells = prod(map(len, typed.values()))
    if not 1 <= len(knobs) <= 2 or not 2 <= cells <= MOST_CELLS:
        raise ConfigError(
            Message(
                "A grid has 2 to {most_cells} settings of one or two knobs, got "
                "{cells} of {knobs}; leave values out.",
                most_cells=MOST_CELLS,
                cells=cells,
                knobs=len(knobs),
            )
        )
    configs = tuple(
        replace(config, shaping=replace(config.shaping, **dict(zip(knobs, chosen, strict=True))))
        for chosen in product(*typed.values())
    )
    return (RunBatch(configs, cells),)


def _typed(name: str, values: Sequence[float]) -> list[Any]:
    """Return a setting's values in its own type.

    Raises:
        ConfigError: no such setting, no value, a value twice, or a fraction of a whole setting.
    """
    if name not in KNOB_NAMES:
        raise ConfigError(
            Message(
                "A grid varies {knob_names}; got {given}.",
                knob_names=", ".join(KNOB_NAMES),
                given=brief(name),
            )
        )
    kind = type(getattr(Shaping(), name))
    fractions = [value for value in values if kind is int and not float(value).is_integer()]
    if fractions:
        words = N_("{name} takes whole numbers, got {fraction:g}.")
        raise ConfigError(Message(words, name=name, fraction=fractions[0]))
    typed = list(map(kind, values))
    if len(set(map(shown, typed))) < len(typed) or not typed:
        raise ConfigError(Message("Give each value of {name} once, and one at least.", name=name))
    return typed


def values_in(text: str) -> tuple[float, ...]:
    """Return the numbers of a text: `0.2, 0.7, 1`, or equal steps such as `0.2 to 1 in 5`.

    Raises:
        ConfigError: anything else.
    """
    span = _RANGE.fullmatch(text[:_LONGEST_VALUES])
    try:
        if span and 2 <= (count := int(span[3])) <= MOST_CELLS:
            low, high = float(span[1]), float(span[2])
            numbers = [round(low + (high - low) * at / (count - 1), 6) for at in range(count)]
        else:
            numbers = [float(word) for word in text[:_LONGEST_VALUES].split(",")]
    except ValueError:
        numbers = []
    if not numbers or any(abs(number) > 1e9 or number != number for number in numbers):
        raise ConfigError(
            Message(
                "Give numbers with commas between, such as 0.2, 0.7, 1, or “0.2 to 1 "
                "in 5”; got {given}.",
                given=brief(text),
            )
        )
    return tuple(numbers)


def require_single(config: MethodConfig) -> None:
    """Raise ConfigError unless the method writes one text, a token at a time."""
    if not isinstance(config, Greedy | Sampling):
        raise ConfigError(
            Message(
                "Many runs are of {greedy} or {sampling}, got {method}; choose one of these.",
                greedy=Message(Greedy.words),
                sampling=Message(Sampling.words),
                method=Message(config.words),
            )
        )
