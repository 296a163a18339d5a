"""False positives of the watermark detectors, and texts that they find, by length.

`python -m benchmarks.watermarks` writes `assets/evaluation/watermarks.json`, which Decode reads,
and prints its table. Unmarked texts are scored with many keys; each marked text with its own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import torch

from core import Sampling, Shaping, collect, load_model
from core.decoding.reading.watermarks import THRESHOLD, detect, detections
from core.decoding.record.steps import MarkedToken
from core.decoding.shaping.functions.watermarks import g_score, is_green
from core.evaluation.false_positives import FILE

LENGTHS = (25, 50, 100, 200, 400)
TEXTS, GREEN_KEYS, LAYER_KEYS = 60, 20, 5
PROMPTS = ("Once upon a time", "One day, a little girl", "There was a big dog", "Tom and Mia")
NAMES = {"watermark_bias": "green list, bias 2", "synthid_depth": "SynthID, 30 layers"}
MARKED = {
    "watermark_bias": Shaping(watermark_bias=2.0),
    "synthid_depth": Shaping(synthid_depth=30),
}


def main() -> None:
    """Count texts above the threshold."""
    torch.set_num_threads(1)
    model, dice = load_model("embedded:target"), random.Random(0)
    counts: dict[str, dict[str, list[int]]] = {}
    plain = [_text(model, Shaping(), seed).token_ids for seed in range(TEXTS)]
    for name in MARKED:
        above = [0] * len(LENGTHS)
        keyed = [_other_key(name, dice) for _ in range(_keys(name))]
        for ids in plain:
            for shaping in keyed:
                scores = detect(ids, _marks(ids, name, shaping, model), name, shaping).z_scores
                above = [n + _found(scores, at) for n, at in zip(above, LENGTHS, strict=True)]
        marked = [detections(_text(model, MARKED[name], s))[0].z_scores for s in range(TEXTS)]
        found = [sum(_found(scores, at) for scores in marked) for at in LENGTHS]
        counts[name] = {"unmarked_above": above, "marked_above": found}
        counts[name] |= {"unmarked": [TEXTS * _keys(name)], "marked": [TEXTS]}
    content = {
        "command": "python -m benchmarks.watermarks",
        "model": "embedded:target",
        "threshold": THRESHOLD,
        "lengths": LENGTHS,
        "counts": counts,
    }
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"| watermark | texts | {' | '.join(f'{n} tokens' for n in LENGTHS)} |")
    print("|---" * (len(LENGTHS) + 2) + "|")
    for name, numbers in counts.items():
        for kind in ("unmarked", "marked"):
            of = numbers[kind][0]
            cells = [f"{100 * n / of:.1f} %" for n in numbers[f"{kind}_above"]]
            print(f"| {NAMES[name]} | {of:,} {kind} | {' | '.join(cells)} |")


def _keys(name: str) -> int:
    return GREEN_KEYS if name == "watermark_bias" else LAYER_KEYS


def _text(model, shaping, seed):  # type: ignore[no-untyped-def]
    config = Sampling(
        max_new_tokens=LENGTHS[-1], min_new_tokens=LENGTHS[-1], seed=seed, shaping=shaping
    )
    return collect(model, PROMPTS[seed % len(PROMPTS)], config)


def _other_key(name: str, dice: random.Random) -> Shaping:
    if name == "watermark_bias":
        return Shaping(watermark_bias=2.0, watermark_key=dice.randrange(1, 2**31))
    return Shaping(synthid_depth=30, synthid_keys=[dice.randrange(2**20) for _ in range(30)])


def _marks(ids: Sequence[int], name: str, shaping: Shaping, model) -> list[MarkedToken | None]:  # type: ignore[no-untyped-def]
    if name == "watermark_bias":
        value = (0.0, shaping.watermark_ratio, shaping.watermark_key, "lefthash", 1)
        green = (
            is_green(ids[at - 1 : at + 1], model.vocab_size, value) for at in range(1, len(ids))
        )
        return [None, *(MarkedToken(float(one), 0.0, 0.0) for one in green)]
    layers = (30, shaping.synthid_keys, shaping.synthid_ngram, shaping.synthid_history)
    first = shaping.synthid_ngram - 1
    scores = (g_score(ids[at - first : at + 1], layers) for at in range(first, len(ids)))
    return [*[None] * first, *(MarkedToken(score, 0.0, 0.0) for score in scores)]


def _found(scores: Sequence[float | None], length: int) -> bool:
    score = scores[length - 1]
    return score is not None and score > THRESHOLD


if __name__ == "__main__":
    main()
