"""Documents with masks: the rows that the diffusion model learns from.

The absorbing-state noise of LLaDA (Nie et al. 2025) and MDLM (Sahoo et al. 2024): a share t of the
tokens of a document becomes [MASK], and the loss of a masked token weighs 1 / t. A third of the
documents are masked as a block-wise decoder meets them: clear up to a place, a block in part,
nothing known behind it (Arriola et al. 2025).
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch.utils.data import IterableDataset, get_worker_info
from transformers import PreTrainedTokenizerFast

from training.corpus.mix import documents
from training.rows import IGNORED, SHORT, encode

LOWEST_SHARE = 0.05  # of the tokens that become [MASK]
BLOCK_SHARE, CUT_SHARE, PADDED_SHARE = 0.35, 0.15, 0.5  # of the documents
BLOCKS = (1, 2, 4, 8, 16, 32)  # tokens
MOST_PADS = 48  # end-of-text tokens behind a document
BEHIND_WEIGHT = 0.3  # of the loss of a token behind the block
_WAITING = 12  # documents to choose from for the rest of a row


class Masked(NamedTuple):
    """A document as the model reads it, and what it learns from it.

    Args:
        ids: token ids, some of them [MASK].
        labels: token ids where a loss is taken, else IGNORED.
        weights: weight of each token's loss.
    """

    ids: list[int]
    labels: list[int]
    weights: list[float]


class Masks:
    """Draws the masks of documents."""

    def __init__(self, rng: random.Random, mask_id: int, end_id: int) -> None:
        self._rng, self._mask, self._end = rng, mask_id, end_id

    def canvas(self, ids: list[int], labels: list[int]) -> tuple[list[int], list[int]]:
        """Return a document as a canvas holds it: cut off, or with end-of-text tokens behind."""
        ids, labels = ids[:SHORT], labels[:SHORT]
        if self._rng.random() < CUT_SHARE and len(ids) > 8:
            length = self._rng.randint(8, len(ids))
            return ids[:length], labels[:length]
        pads = self._rng.randint(1, MOST_PADS) if self._rng.random() < PADDED_SHARE else 0
        pads = min(pads, SHORT - len(ids))
        return ids + [self._end] * pads, labels + [self._end] * pads

    def apply(self, ids: list[int], labels: list[int]) -> Masked:
        """Return a canvas with masks of either kind."""
        share = self._rng.uniform(LOWEST_SHARE, 1.0)
        if self._rng.random() < BLOCK_SHARE:
            return self._block(ids, labels, share)
        return self._uniform(ids, labels, share)

    def _uniform(self, ids: list[int], labels: list[int], share: float) -> Masked:
        hidden = [label != IGNORED and self._rng.random() < share for label in labels]
        return Masked(
            [self._mask if hide else token for hide, token in zip(hidden, ids, strict=True)],
            [label if hide else IGNORED for hide, label in zip(hidden, labels, strict=True)],
            [1 / share] * len(ids),
        )

    def _block(self, ids: list[int], labels: list[int], share: float) -> Masked:
        learned = [place for place, label in enumerate(labels) if label != IGNORED]
        begin = self._rng.choice(learned) if learned else 0
        end = min(len(ids), begin + self._rng.choice(BLOCKS))
        if self._rng.random() < 0.5:  # The canvas ends with the block.
            ids, labels = ids[:end], labels[:end]
        masked = self._uniform(ids[begin:end], labels[begin:end], share)
        behind = len(ids) - end
        return Masked(
            ids[:begin] + masked.ids + [self._mask] * behind,
            [IGNORED] * begin + masked.labels + labels[end:],
            [0.0] * begin + masked.weights + [BEHIND_WEIGHT] * behind,
        )


class MaskedRows(IterableDataset[dict[str, torch.Tensor]]):
    """An endless source of batches of rows of SHORT tokens, each a row of whole documents.

    A batch has `ids`, `labels`, `weights`, `positions` and `documents` (the number of a token's
    document in its row), all [count, SHORT].
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int, count: int) -> None:
        self._tokenizer, self._seed, self._count = tokenizer, seed, count

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = get_worker_info()
        rng = random.Random(self._seed * 1000 + (worker.id if worker else 0))
        masks = Masks(rng, self._tokenizer.mask_token_id, self._tokenizer.eos_token_id)
        texts = documents(rng)
        waiting: list[Masked] = []
        while True:
            rows = []
            for _ in range(self._count):
                row: list[Masked] = []
                room = SHORT
                while room:
                    while len(waiting) < _WAITING:
                        pair = encode(self._tokenizer, next(texts))
                        waiting.append(masks.apply(*masks.canvas(*pair)))
                    fitting = next((one for one in waiting if len(one.ids) <= room), None)
                    if fitting is None:
                        break
                    waiting.remove(fitting)
                    row.append(fitting)
                    room -= len(fitting.ids)
                rows.append(self._lay_out(row))
            yield {
                name: torch.tensor([row[name] for row in rows])
                for name in ("ids", "labels", "weights", "positions", "documents")
            }

    def _lay_out(self, row: list[Masked]) -> dict[str, list[int] | list[float]]:
        rest = SHORT - sum(len(one.ids) for one in row)
        end = self._tokenizer.eos_token_id
        filled = [*row, Masked([end] * rest, [IGNORED] * rest, [0.0] * rest)]
        return {
            "ids": [token for one in filled for token in one.ids],
            "labels": [label for one in filled for label in one.labels],
            "weights": [weight for one in filled for weight in one.weights],
            "positions": [place for one in filled for place in range(len(one.ids))],
            "documents": [number for number, one in enumerate(filled) for _ in one.ids],
        }
