"""`python -m benchmarks [SUBJECT ...]`, of `SUBJECTS`: all by default, two threads."""

from __future__ import annotations

import argparse
import logging
import warnings
from importlib import import_module
from importlib.metadata import version
from time import process_time

SUBJECTS = (
    *("decoding", "beam", "speculative", "reasoning", "memory", "app", "lab", "languages"),
    *("sessions", "endpoint", "recording", "architectures", "smollm2", "engines"),
)


def main() -> None:
    """Print one table for each subject."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], help="default: all")
    parser.add_argument("--repeats", type=int, default=5, help="runs that the median is taken of")
    parser.add_argument("--threads", type=int, default=2, help="of torch")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="of runs in turns, not the clock's: other work changes it less; with --threads 1",
    )
    parser.add_argument("--device", default="cpu", help="of decoding: cuda, for example")
    parser.add_argument("--dtype", default="float32", help="of decoding's weights")
    parser.add_argument(
        "--only", default="", help="rows of runs in turns, and servers, whose name holds this"
    )
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("transformers").setLevel(logging.ERROR)

    import torch

    from benchmarks.decoding import MEASURE
    from benchmarks.machine import processor

    torch.set_num_threads(args.threads)
    MEASURE.only, MEASURE.device, MEASURE.dtype = args.only, args.device, args.dtype
    if args.processor_time:
        MEASURE.clock = process_time
    print(f"torch {torch.__version__}, transformers {version('transformers')}, {processor()}")
    for subject in args.subjects or SUBJECTS:
        module = import_module(f"benchmarks.{subject}")
        module.run() if subject == "memory" else module.run(args.repeats)


if __name__ == "__main__":
    main()
