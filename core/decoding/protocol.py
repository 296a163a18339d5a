"""Model protocols of the decoding methods: a model starts a context, and a context has four
verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import torch
from typing_extensions import TypeIs, get_protocol_members

OnLogits = Callable[[int, torch.Tensor], None]
TokenRows = Sequence[int] | Sequence[Sequence[int]]


class Context(Protocol):
    """State of one or more sequences of equal length; it hides the KV cache."""

    @property
    def rows(self) -> int:
        """Number of sequences in the context."""
        ...

    @property
    def length(self) -> int:
        """Number of tokens in each row."""
        ...

    @property
    def logits(self) -> torch.Tensor:
        """Logits after the last token, `[rows, vocab]`, float32 on the CPU; read-only."""
        ...

    def extend(self, ids: TokenRows) -> torch.Tensor:
        """Append tokens to every row and return the logits after each new one.

        Args:
            ids: `[rows, n]`; for a context of one row also a flat list of n ids.

        Returns:
            `[rows, n, vocab]`, float32 on the CPU.

        Raises:
            PromptError: the context window is full, or an id is outside the vocabulary.
        """
        ...

    def rollback(self, n: int) -> None:
        """Remove the last n tokens of every row; `logits` is undefined until the next `extend`."""
        ...

    def branch(self, rows: Sequence[int]) -> Context:
        """Return a new context whose row i continues this context's row `rows[i]`; rows may
        repeat.
        """
        ...

    def reorder(self, rows: Sequence[int]) -> None:
        """Like `branch`, but in place: row i continues the former row `rows[i]`; other rows are
        dropped.

        It copies less than `branch`; `logits` is undefined until the next `extend`.
        """
        ...


class HiddenContext(Context, Protocol):
    """A context that returns hidden states of the last layer; not every model has one."""

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """Like `extend`, but return the hidden states of the new tokens; `logits` are those after
        the last one.

        Returns:
            `[rows, n, width]`, float32 on the CPU: transformers' `hidden_states[-1]`.

        Raises:
            as `extend`.
        """
        ...

    def extend_both(self, ids: TokenRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Like `extend`, but return logits and hidden states of the new tokens.

        Raises:
            as `extend`.
        """
        ...


class TreeContext(Context, Protocol):
    """A context that a tree of tokens can follow; not every model has one."""

    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Append nodes of a tree to the only row in one forward; each attends to its ancestors.

        Args:
            parents: parent of each node, counted over all nodes since the last `keep`; -1 for a
                node that follows the tokens before the tree.
            hidden: takes the nodes' hidden states of the last layer in, `[n, width]`.

        Returns:
            logits after each node, `[n, vocab]`, float32 on the CPU.

        Raises:
            as `extend`.
        """
        ...

    def keep(self, nodes: Sequence[int]) -> None:
        """Remove the tree but for one path of it, given by its nodes from the first one down.

        `logits` is undefined until the next `extend`.

        Raises:
            ValueError: the nodes are no such path.
        """
        ...


class TakesTrees(Protocol):
    """A model that knows whether its contexts are `TreeContext`s."""

    @property
    def takes_trees(self) -> bool:
        """True if its contexts give each node of a tree the logits of the node's own path."""
        ...


class Vocabulary(Protocol):
    """Tokens of a model, and its description in traces; it may outlive the weights."""

    @property
    def model_id(self) -> str:
        """Name of the model in a trace."""
        ...

    @property
    def revision(self) -> str:
        """Hub commit or digest of the weights; empty if there is none."""
        ...

    @property
    def vocab_size(self) -> int:
        """Length of a row of logits; with padding it may exceed the tokenizer's length."""
        ...

    @property
    def dtype(self) -> str:
        """Type of the weights as torch names it: `float32`, `bfloat16`, ..."""
        ...

    def token_text(self, token_id: int) -> str:
        """Return the display text of a token; a part of a character is shown as bytes, such as
        `<E2>`.
        """
        ...

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token adds to the text; empty for special and unknown tokens."""
        ...


class LanguageModel(Vocabulary, Protocol):
    """A decoder-only language model with its tokenizer."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary without the weights, for data that outlives the model."""
        ...

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a run, all below `vocab_size`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Maximum number of tokens, prompt and generated together; None for no bound."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt, with the special tokens that the tokenizer adds."""
        ...

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> Context:
        """Run the prompt and return a context of one row that holds it.

        Args:
            prompt_ids: at least one id.
            use_cache: False makes every `extend` run the whole sequence again.
            on_logits: called as `on_logits(first_position, logits [n, vocab])` for consecutive
                pieces of the prompt, so that the logits need not be held all at once.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
        ...


class Layers(Protocol):
    """Logits of a model's earlier layers."""

    @property
    def count(self) -> int:
        """Number of layers."""
        ...

    @property
    def ties_embeddings(self) -> bool:
        """True if embedding and head have the same weights."""
        ...

    def start(
        self, prompt_ids: Sequence[int], layers: Sequence[int], *, use_cache: bool = True
    ) -> Context:
        """Run the prompt and return a context whose logits are those of some layers, one after the
        other: `[rows, layers * vocab]`.

        A layer's logits are the head's, without the last norm. Layer 0 is the embedding.

        Raises:
            PromptError: as `start` of a model.
        """
        ...

    def first(self, count: int) -> LanguageModel:
        """Return a model of the first layers with the last norm and the head, on the same weights.

        Raises:
            ModelError: the layers can't be run apart.
        """
        ...


class Layered(Protocol):
    """A model that gives logits of its earlier layers."""

    @property
    def layers(self) -> Layers:
        """Its layers."""
        ...


class Chats(Protocol):
    """A model that may have a chat template."""

    @property
    def has_chat_template(self) -> bool:
        """True if `encode_chat` can be used."""
        ...

    def encode_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> list[int]:
        """Return the conversation's token ids.

        Raises:
            ModelError: the model has no chat template.
            PromptError: the template refuses the messages.
        """
        ...


class Decodes(Protocol):
    """A model that exposes its tokenizer's own decoding."""

    def decode(self, token_ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """Return the text that tokens add after others, without special tokens."""
        ...


_T = TypeVar("_T")


def offers(thing: object, kind: type[_T]) -> TypeIs[_T]:
    """Return whether an object has all members of a protocol.

    From Python 3.12 on `isinstance` checks only the class, and `Wrapped` delegates at the instance.
    """
    return all(hasattr(thing, name) for name in get_protocol_members(kind))


class Wrapped:
    """Wrapper of a model or context; delegates missing attributes to the wrapped object."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
