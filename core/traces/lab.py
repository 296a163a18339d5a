"""Read the lab's stored steps without torch; `python -m core.traces.lab` makes the example."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ..decoding.autoregressive.config import Sampling
from ..decoding.errors import DecodingError, TraceError
from ..decoding.files import own_json, rounded_values, unwritable, write_file
from ..decoding.lab.types import Continuations, LabExample
from ..decoding.methods import config_from_dict, config_to_dict
from ..decoding.record.layout import Codec, Codecs, RecordLayout
from ..decoding.record.trace import Trace
from ..decoding.serial import CODECS as TRACE_CODECS
from ..decoding.serial import KINDS, require_header
from ..decoding.shaping.config import ranges_in_view
from ..decoding.shaping.orders import ORDERS, TRANSFORMERS, Order
from ..language import N_, Message

# Limit on rerolls: every earlier draw must be repeated.
MAX_ROLL = 999
TEMPERATURES = tuple(at / 20 for at in range(41))
ROLLS = 1000
ROWS, ROW_TOKENS = 6, 20


# Target entropy: that of nine equally likely tokens, enough to see an effect, few enough to list.
_TELLING = math.log(9)
# Penalty if the most probable token was drawn: then hardly any setting changes the outcome.
_DULL = 0.7
# Stored digits of numbers, except under these names.
_DIGITS, _EXACT = 9, ("trace", "config")


def _order(key: object) -> Order:
    if not isinstance(key, str) or key not in ORDERS:
        raise ValueError(N_("the order is none of those that the lab knows"))
    return ORDERS[key]


def _sampling(data: object) -> Sampling:
    config = config_from_dict(data)
    if not isinstance(config, Sampling):
        raise ValueError(N_("the continuations' method is not sampling"))
    return config


CODECS: Codecs = {
    **TRACE_CODECS,
    Sampling: Codec(config_to_dict, _sampling),
    Order: Codec(lambda order: order.key, _order),
}


@cache
def _layout() -> RecordLayout[LabExample]:
    return RecordLayout(LabExample, CODECS, kinds=KINDS)


def example_to_dict(example: LabExample) -> Any:
    """Return plain dicts, lists, strings and numbers, ready for `json.dump`."""
    return rounded_values(_layout().plain(example), _DIGITS, _EXACT)


def example_from_dict(data: Any) -> LabExample:
    """Return the example that `example_to_dict` wrote, with numbers of nine digits.

    Raises:
        TraceError: wrong schema or version, or a field is missing or invalid.
    """
    require_header(data, LabExample)
    return _layout().read(data)


def telling_step(trace: Trace) -> int:
    """Return the index of the step at which the settings have the most visible effect.

    There, several tokens share the probability, and the most probable one was not chosen.
    """

    def dullness(at: int) -> float:
        step = trace.token_steps[at]
        return abs(step.entropy - _TELLING) + _DULL * (step.chosen.rank == 1)

    return min(range(len(trace.token_steps)), key=dullness, default=0)


def load_lab(path: str | Path) -> LabExample:
    """Read the stored example.

    Raises:
        TraceError: the file can't be read or is no example of the lab.
    """
    return example_from_dict(own_json(path, Message("The lab's example"), TraceError))


def lab_bytes(example: LabExample) -> bytes:
    """Return the content of the step's file (UTF-8 JSON)."""
    text = json.dumps(
        example_to_dict(example), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text.encode("utf-8", "replace")


def make_lab(trace: Trace) -> LabExample:
    """Return the lab's data for the run's most telling step, under the run's own settings.

    Raises:
        DecodingError: the run is no sampling, or its model can't be loaded.
    """
    from ..decoding.lab.continuations import continue_in_batch, rows_of
    from ..decoding.lab.cuts import all_cuts
    from ..decoding.lab.decision_boundaries import all_boundaries
    from ..decoding.lab.series import roll, sweep
    from ..decoding.lab.step import lab_step, read_step_logits
    from ..models.registry import load_model

    if not isinstance(trace.config, Sampling) or not trace.token_ids:
        raise DecodingError(
            N_("The lab's example is made from a run of sampling that emitted tokens.")
        )
    model, index = load_model(trace.model_id), telling_step(trace)
    before = [*trace.prompt_ids, *trace.token_ids[:index]]
    states = trace.token_steps[index].states
    constraint = trace.config.shaping.constraint
    step_logits = read_step_logits(model, before, index, states, constraint)
    config = Sampling(shaping=trace.config.shaping, seed=trace.config.seed, draw=trace.config.draw)
    order = TRANSFORMERS
    step = lab_step(step_logits, config, order, index, trace.prompt)
    seeds = [config.seed + at for at in range(ROWS)]
    grown = replace(config, max_new_tokens=ROW_TOKENS)
    rows = continue_in_batch(model, before, grown, seeds, generated=index, states=states)
    batch = list(rows)
    return LabExample(
        index=index,
        step=step,
        flips=all_boundaries(step_logits, config, order, index, ranges_in_view(config.shaping)),
        cuts=all_cuts(step_logits, config, step),
        rolls=roll(step_logits, config, order, index, ROLLS),
        sweep=sweep(step_logits, config, order, index, TEMPERATURES),
        continuations=Continuations(
            trace.model_id, step.text_before, grown, rows_of(model, batch, seeds)
        ),
    )


def main() -> int:
    """Make the lab's example from a stored run; return 2 on failure."""
    parser = argparse.ArgumentParser(prog="python -m core.traces.lab", description=main.__doc__)
    parser.add_argument("run", help="the trace file of a run of sampling")
    parser.add_argument("example", help="where to write the lab's example")
    args = parser.parse_args()
    try:
        write_file(args.example, lab_bytes(make_lab(Trace.load(args.run))))
    except (DecodingError, OSError) as error:
        sentence = unwritable(args.example, error) if isinstance(error, OSError) else error
        print(f"python -m core.traces.lab: {sentence}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
