"""Protocols of a model for the decoding methods: a start, and a context with four verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import torch
from typing_extensions import TypeIs, get_protocol_members

OnLogits = Callable[[int, torch.Tensor], None]
TokenRows = Sequence[int] | Sequence[Sequence[int]]


class Context(Protocol):
    """The running state of one or more sequences of equal length (the KV cache behind verbs)."""

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
            ids: `[rows, n]`, or a flat list of n ids for a context of one row.

        Returns:
            `[rows, n, vocab]`, float32 on the CPU.

        Raises:
            PromptError: the context window is full, or an id is outside the vocabulary.
        """
        ...

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row; `logits` is undefined until the next `extend`."""
        ...

    def branch(self, rows: Sequence[int]) -> Context:
        """A new context whose row i continues this one's row `rows[i]`; rows may repeat."""
        ...

    def reorder(self, rows: Sequence[int]) -> None:
        """`branch` in place: row i now continues what was row `rows[i]`, and the rest is gone.

        Copies less than a branch; `logits` is undefined until the next `extend`.
        """
        ...


class HiddenContext(Context, Protocol):
    """A context that can say what the last layer made of its tokens; not every model's can."""

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """`extend`, for the hidden states of the new tokens; `logits` are those of the last.

        Returns:
            `[rows, n, width]`, float32 on the CPU: transformers' `hidden_states[-1]`.

        Raises:
            as `extend`.
        """
        ...


class Vocabulary(Protocol):
    """The tokens of a model, and what a trace says of it; may outlive its weights."""

    @property
    def model_id(self) -> str:
        """Name of the model in a trace."""
        ...

    @property
    def revision(self) -> str:
        """A hub commit or a digest of the weights; empty when there is none."""
        ...

    @property
    def vocab_size(self) -> int:
        """The length of a logits row; may exceed the tokenizer's length (padding)."""
        ...

    @property
    def dtype(self) -> str:
        """The weights' type as torch names it: `float32`, `bfloat16`, ..."""
        ...

    def token_text(self, token_id: int) -> str:
        """Display text of one token; bytes as `<E2>` where it holds part of a character."""
        ...

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes that a token adds to the text; empty for special and unknown tokens."""
        ...


class LanguageModel(Vocabulary, Protocol):
    """A decoder-only language model with its tokenizer."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The same without the weights, for what is kept longer than the model is needed."""
        ...

    @property
    def eos_ids(self) -> frozenset[int]:
        """Every id that ends a run, all of them below `vocab_size`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens that fit, prompt and generated together; None for no bound."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of a prompt, with the special tokens that the tokenizer adds by itself."""
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
                pieces of the prompt, so that no caller has to hold all of them.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
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
        """The conversation's token ids.

        Raises:
            ModelError: the model has no chat template.
            PromptError: the template refuses the messages.
        """
        ...


class Decodes(Protocol):
    """A model whose tokenizer's own decoding can be asked."""

    def decode(self, token_ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """The text that tokens add behind others; special ones are left out."""
        ...


_T = TypeVar("_T")


def offers(thing: object, kind: type[_T]) -> TypeIs[_T]:
    """Return whether an object has all that a protocol declares.

    From Python 3.12 on `isinstance` looks at the class alone, where `Wrapped` has nothing.
    """
    return all(hasattr(thing, name) for name in get_protocol_members(kind))


class Wrapped:
    """A model or a context around another; what it doesn't have is the other's."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
