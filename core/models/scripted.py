"""A language model whose probabilities are written down: for demonstrations and exact tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import torch

from ..decoding.errors import ModelError, PromptError
from ..decoding.protocol import OnLogits, TokenRows
from ..language import Message
from .running.limits import InputLimits, check_branch
from .running.tree import require_path
from .text.token_text import display_text

LogitsRow = Sequence[float] | torch.Tensor
Script = Mapping[tuple[int, ...], LogitsRow] | Callable[[tuple[int, ...]], LogitsRow]

END = "<end>"
DEFAULT_TOKENS = (END, "the", " cat", " dog", " sat", " ran", " home", ".")


class ScriptedModel:
    """A `LanguageModel` over a small vocabulary that says what its script says.

    Args:
        script: one row of `vocab_size` numbers for the ids so far. A mapping gives the row of the
            longest key that the ids end with: `(3,)` is "after token 3", `()` is "otherwise".
        tokens: the vocabulary, in order of ids; bytes where a token is part of a character.
        given: whether the rows are probabilities (0 to 1, adding up to 1) or logits.
        eos: the token that ends a run and adds no text, ignored if `tokens` doesn't hold it.
        context_window: prompt and generated tokens together; None for no bound.
    """

    def __init__(
        self,
        script: Script,
        *,
        tokens: Sequence[str | bytes] = DEFAULT_TOKENS,
        given: Literal["probabilities", "logits"] = "probabilities",
        eos: str | None = END,
        context_window: int | None = None,
        model_id: str = "scripted",
    ) -> None:
        self.model_id = model_id
        self.revision = ""
        self.dtype = "float32"
        self.context_window = context_window
        self.eos_ids = frozenset(at for at, token in enumerate(tokens) if token == eos)
        self._tokens = [token.encode() if isinstance(token, str) else token for token in tokens]
        self._script = script
        self._given = given
        self._limits = InputLimits(len(tokens), context_window)
        self._longest_key = max(map(len, script), default=0) if isinstance(script, Mapping) else 0

    takes_trees = True

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return len(self._tokens)

    @property
    def vocabulary(self) -> ScriptedModel:
        """Itself: it has no weights."""
        return self

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; the longest token that fits comes next.

        Raises:
            PromptError: no token fits.
        """
        left, ids = text.encode(), []
        while left:
            fitting = [
                at
                for at, token in enumerate(self._tokens)
                if token and left.startswith(token) and at not in self.eos_ids
            ]
            if not fitting:
                known = ", ".join(repr(display_text(token)) for token in self._tokens)
                raise PromptError(
                    Message(
                        "No token fits at {display_text!r}; write with {known}.",
                        display_text=display_text(left)[:20],
                        known=known,
                    )
                )
            ids.append(max(fitting, key=lambda at: len(self._tokens[at])))
            left = left[len(self._tokens[ids[-1]]) :]
        return ids

    def token_text(self, token_id: int) -> str:
        """Display text of one token."""
        if not 0 <= token_id < len(self._tokens):
            return f"<unused {token_id}>"
        return display_text(self._tokens[token_id])

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes that a token adds to the text; empty for the end and unknown tokens."""
        known = 0 <= token_id < len(self._tokens) and token_id not in self.eos_ids
        return self._tokens[token_id] if known else b""

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,  # noqa: ARG002 - there is no cache to use
        on_logits: OnLogits | None = None,
    ) -> ScriptedContext:
        """A context of one row that holds the prompt.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
        context = ScriptedContext(self.logits_after, self._limits)
        logits = context.extend(prompt_ids)
        if on_logits:
            on_logits(0, logits[0])
        return context

    def logits_after(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the script's logits `[vocab]` after `ids`; a probability of 0 is -inf.

        Raises:
            ModelError: the script has no row for them, or one that is no distribution.
        """
        so_far = tuple(ids)
        row = torch.as_tensor(self._row(so_far), dtype=torch.float64)
        if row.shape != (self.vocab_size,):
            raise ModelError(
                Message(
                    "The script's row after {so_far} must hold {vocab_size} numbers, "
                    "got a shape of {tuple}.",
                    so_far=so_far,
                    vocab_size=self.vocab_size,
                    tuple=tuple(row.shape),
                )
            )
        if self._given == "logits":
            return row.float()
        if not (bool((row >= 0).all()) and math.isclose(row.sum().item(), 1, abs_tol=1e-6)):
            raise ModelError(
                Message(
                    "The script's row after {so_far} must be probabilities that add up "
                    "to 1, got {tolist}.",
                    so_far=so_far,
                    tolist=row.tolist(),
                )
            )
        return row.log().float()

    def _row(self, so_far: tuple[int, ...]) -> LogitsRow:
        if not isinstance(self._script, Mapping):
            return self._script(so_far)
        for length in range(min(self._longest_key, len(so_far)), -1, -1):
            ending = so_far[len(so_far) - length :]
            if ending in self._script:
                return self._script[ending]
        raise ModelError(
            Message(
                "The script says nothing after {so_far}; add a row for () to it.", so_far=so_far
            )
        )


class ScriptedContext:
    """Rows of ids; every question goes to the script."""

    def __init__(
        self, logits_after: Callable[[Sequence[int]], torch.Tensor], limits: InputLimits
    ) -> None:
        self._logits_after = logits_after
        self._limits = limits
        self._ids: list[list[int]] = [[]]
        # Parents and ids on the way to each node of the tree that waits for `keep`.
        self._parents: list[int] = []
        self._paths: list[list[int]] = []

    @property
    def rows(self) -> int:
        """Number of sequences that the context holds."""
        return len(self._ids)

    @property
    def length(self) -> int:
        """Number of tokens that each row holds."""
        return len(self._ids[0]) + len(self._parents)

    @property
    def logits(self) -> torch.Tensor:
        """Logits after the last token, `[rows, vocab]`."""
        return torch.stack([self._logits_after(row) for row in self._ids])

    def extend(self, ids: TokenRows) -> torch.Tensor:
        """Append ids `[rows, n]` (or n of them for one row); logits `[rows, n, vocab]`."""
        table = self._limits.as_rows(ids, self.rows, self.length)
        longer = [held + new for held, new in zip(self._ids, table, strict=True)]
        positions = range(self.length + 1, len(longer[0]) + 1)
        logits = torch.stack(
            [torch.stack([self._logits_after(row[:end]) for end in positions]) for row in longer]
        )
        self._ids = longer
        return logits

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """Append ids; as hidden states their one-hot vectors `[rows, n, vocab]`: a token is like
        itself and like no other."""
        return self.extend_both(ids)[1]

    def extend_both(self, ids: TokenRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Append ids; return logits and hidden states of the new tokens."""
        before, logits = self.length, self.extend(ids)
        new = torch.tensor([row[before:] for row in self._ids])
        return logits, torch.nn.functional.one_hot(new, logits.shape[-1]).float()

    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Append nodes of a tree; logits `[n, vocab]` after each; one-hot vectors as hidden
        states."""
        for token_id, parent in zip(ids, parents, strict=True):
            before = [] if parent < 0 else self._paths[parent]
            self._limits.as_rows([token_id], 1, len(self._ids[0]) + len(before))
            self._parents.append(parent)
            self._paths.append([*before, token_id])
        new = self._paths[len(self._paths) - len(ids) :]
        logits = torch.stack([self._logits_after(self._ids[0] + path) for path in new])
        if hidden is not None:
            one_hot = torch.nn.functional.one_hot(torch.tensor(ids), logits.shape[-1])
            hidden.append(one_hot.float())
        return logits

    def keep(self, nodes: Sequence[int]) -> None:
        """Forget the tree but for a path of it."""
        require_path(self._parents, nodes)
        self._ids[0] = self._ids[0] + (self._paths[nodes[-1]] if nodes else [])
        self._parents, self._paths = [], []

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        if not 0 <= n <= self.length:
            raise ValueError(f"The context holds {self.length} tokens, {n} can't be rolled back.")
        self._ids = [row[: len(row) - n] for row in self._ids]

    def branch(self, rows: Sequence[int]) -> ScriptedContext:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        branched = ScriptedContext(self._logits_after, self._limits)
        branched._ids = [list(self._ids[row]) for row in rows]
        return branched

    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`."""
        check_branch(rows, self.rows)
        self._ids = [list(self._ids[row]) for row in rows]
