"""Logits that a run of `generate` read, in the place of a model's forwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...decoding.checks.common import VALUE_TOLERANCE
from ...decoding.errors import TraceError
from ...decoding.protocol import OnLogits, TokenRows, Wrapped
from ...language import Message

PARTED = (
    "The settings don't give the tokens of this run of generate (they part at token {at}): give "
    "the settings, the prompt and the seed that it had; a logits processor of one's own isn't "
    "recorded."
)
# Two forwards of different shape part by this share of the largest logit at most.
_SAME_FORWARD = {torch.float32: 1e-3}
_COARSE = 0.1


class RecordedModel(Wrapped):
    """A model whose first context gives recorded logits; the prompt is read by a forward.

    Later contexts, such as the second forward of guidance, are the model's own.

    Args:
        logits: for each step the logits of the rows, `[rows, vocab]`.
        token_ids: tokens of a run of one sequence; None for a search.
    """

    def __init__(
        self, inner: Any, logits: Sequence[Tensor], token_ids: Sequence[int] | None
    ) -> None:
        super().__init__(inner)
        self._logits: Sequence[Tensor] | None = logits
        self._token_ids = token_ids

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> Any:
        """Run the prompt; the first time, return the recorded logits as a context.

        Raises:
            TraceError: the model gives other logits after the prompt than those recorded.
        """
        if self._logits is None:
            return self._inner.start(prompt_ids, use_cache=use_cache, on_logits=on_logits)
        recorded, self._logits = self._logits, None

        def read(first: int, logits: Tensor) -> None:
            if first + len(logits) == len(prompt_ids):
                self._require_same(logits[-1], recorded[0][0])
                logits = torch.cat([logits[:-1], recorded[0][:1]])
            if on_logits is not None:
                on_logits(first, logits)

        self._inner.start(prompt_ids, use_cache=use_cache, on_logits=read)
        return RecordedContext(recorded, len(prompt_ids), self._token_ids)

    def _require_same(self, logits: Tensor, recorded: Tensor) -> None:
        tolerance = _SAME_FORWARD.get(self._inner.hf_model.dtype, _COARSE)
        apart = float((logits - recorded).abs().nan_to_num(0.0).max())
        if apart > tolerance * max(1.0, float(recorded[recorded.isfinite()].abs().max())):
            raise TraceError(
                Message(
                    "After this prompt the model's logits differ by {apart:.2g} from "
                    "those that generate recorded: give the model and the prompt of "
                    "that run.",
                    apart=apart,
                )
            )


class RecordedContext:
    """Rows of a run, whose logits were recorded.

    Args:
        logits, token_ids: as of `RecordedModel`.
        length: number of tokens of the prompt.
    """

    def __init__(
        self, logits: Sequence[Tensor], length: int, token_ids: Sequence[int] | None
    ) -> None:
        self._recorded, self._token_ids = logits, token_ids
        self._step, self._rows = 0, 1
        self._prompt_length = length

    @property
    def rows(self) -> int:
        """Number of sequences."""
        return self._rows

    @property
    def length(self) -> int:
        """Number of tokens in each row."""
        return self._prompt_length + self._step

    @property
    def logits(self) -> Tensor:
        """Recorded logits after the last token, `[rows, vocab]`."""
        return self._recorded[self._step][: self._rows]

    def extend(self, ids: TokenRows) -> Tensor:
        """Go on to the next step and return its recorded logits, `[rows, 1, vocab]`.

        Raises:
            TraceError: `generate` went on with another token, or ended here.
        """
        expected = self._token_ids
        if expected is not None and list(ids) != [expected[self._step]]:
            raise TraceError(PARTED.format(at=self._step + 1))
        self._step += 1
        if self._step == len(self._recorded):
            raise TraceError(
                Message(
                    "This run of generate ended after {step} tokens, and its settings "
                    "don't say why: give the settings that it had.",
                    step=self._step,
                )
            )
        return self.logits[:, None]

    def reorder(self, rows: Sequence[int]) -> None:
        """Take over the number of rows: `generate` recorded them in their new order."""
        self._rows = len(rows)


def require_same_scores(probs: Sequence[float], scores: Tensor, index: int) -> None:
    """Compare probabilities with those of `generate`'s own scores of the same tokens.

    Raises:
        TraceError: they differ.
    """
    pairs = zip(probs, scores.tolist(), strict=True)
    if max((abs(prob - score) for prob, score in pairs), default=0.0) > 10 * VALUE_TOLERANCE:
        raise TraceError(PARTED.format(at=index + 1))
