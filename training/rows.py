"""Documents as rows of tokens, with a label for every token that is to be learned."""

import random
from collections.abc import Iterator
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from training.corpus.document import Document
from training.corpus.mix import documents

SHORT, LONG = 256, 512  # tokens in a row of documents apart, and in one read as a long text
IGNORED = -100  # the label of a token that bears no loss
_WAITING = 12  # documents to choose from for the rest of a row

Labelled = tuple[list[int], list[int]]


def encode(tokenizer: PreTrainedTokenizerFast, document: Document) -> Labelled:
    """Return a document's token ids and labels, closed by the end-of-text token.

    A token is learned where all of its characters are.
    """
    text = "".join(part.text for part in document)
    learned = [part.learned for part in document for _ in part.text]
    encoding = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    ids = [*encoding.ids, tokenizer.eos_token_id]
    labels = [
        token if all(learned[begin:end]) else IGNORED
        for token, (begin, end) in zip(encoding.ids, encoding.offsets, strict=True)
    ]
    return ids, [*labels, tokenizer.eos_token_id]


class Rows:
    """An endless source of rows that begin with a document; `state` keeps the place.

    A short row holds whole documents and is filled up with end-of-text tokens that bear no loss.
    A long row begins with the documents that no short row can hold, and cuts off the last one.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        seed: int,
        shares: dict[str, float] | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self._rng = random.Random(seed)
        self._documents: Iterator[Document] = documents(self._rng, shares)
        self._waiting: list[Labelled] = []
        self._too_long: list[Labelled] = []

    @property
    def state(self) -> Any:
        """All that `restore` needs to go on with the same rows."""
        return self._rng.getstate(), self._waiting, self._too_long

    def restore(self, state: Any) -> None:
        """Go on from a state, also from one that was stored."""
        (version, numbers, gauss), self._waiting, self._too_long = state
        self._rng.setstate((version, tuple(numbers), gauss))

    def take(self, count: int, apart: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """The ids and the labels of the next rows, both [count, SHORT or LONG]."""
        pairs = [self._short_row() if apart else self._long_row() for _ in range(count)]
        ids, labels = zip(*pairs, strict=True)
        return torch.tensor(ids), torch.tensor(labels)

    def _short_row(self) -> Labelled:
        ids: list[int] = []
        labels: list[int] = []
        while found := self._that_fits(SHORT - len(ids)):
            ids += found[0]
            labels += found[1]
        rest = SHORT - len(ids)
        return ids + [self.tokenizer.eos_token_id] * rest, labels + [IGNORED] * rest

    def _that_fits(self, room: int) -> Labelled | None:
        while len(self._waiting) < _WAITING:
            pair = self._next()
            (self._waiting if len(pair[0]) <= SHORT else self._too_long).append(pair)
        for index, (ids, _) in enumerate(self._waiting):
            if len(ids) <= room:
                return self._waiting.pop(index)
        return None

    def _long_row(self) -> Labelled:
        ids: list[int] = []
        labels: list[int] = []
        while len(ids) < LONG:
            more, their_labels = self._too_long.pop(0) if self._too_long else self._next()
            ids += more
            labels += their_labels
        return ids[:LONG], labels[:LONG]

    def _next(self) -> Labelled:
        return encode(self.tokenizer, next(self._documents))
