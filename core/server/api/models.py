"""Requests about the offered models and their tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from openai.types import Model

from ...decoding.loop.text import encode_plain, join_prompt
from ...decoding.protocol import LanguageModel
from .errors import ApiError
from .request.fields import MAX_TEXT, Fields
from .request.messages import read_messages
from .request.plan import encode_chat

OWNER = "decoding-explorer"


def require_offered(name: str, offered: Collection[str], param: str = "model") -> None:
    """Raise ApiError for a model that isn't offered."""
    if name not in offered:
        raise ApiError(
            f"There is no model {name[:100]!r} here; there are {', '.join(offered)}.",
            status=404,
            param=param,
            code="model_not_found",
        )


def model_body(name: str, created: int) -> dict[str, Any]:
    """Return a model's entry in the list of models."""
    model = Model(id=name, object="model", created=created, owned_by=OWNER)
    return model.model_dump(mode="json", exclude_unset=True)


class TokenizerQuestion(NamedTuple):
    """A tokenizer request: the model's name (empty for the first), and the answering function."""

    model: str
    answer: Callable[[LanguageModel], dict[str, Any]]


def read_tokenize(body: Mapping[str, Any]) -> TokenizerQuestion:
    """Read a request for token ids (vLLM's `/tokenize`).

    Raises:
        ApiError: a parameter is wrong or not supported.
    """
    fields = Fields(body)
    name, with_texts = fields.text("model") or "", fields.flag("return_token_strs")
    prompt = fields.text("prompt")
    messages = read_messages(fields.any("messages"), "messages") if prompt is None else []
    special = fields.flag("add_special_tokens", prompt is not None)
    opened = fields.flag("add_generation_prompt", True)
    fields.finish(())
    if prompt is not None and (len(prompt) > MAX_TEXT or fields.has("messages")):
        raise ApiError(
            f"Give a prompt of at most {MAX_TEXT:,} characters, or messages.", param="prompt"
        )

    def answer(model: LanguageModel) -> dict[str, Any]:
        if prompt is None:
            ids = encode_chat(model, messages, opened)
        elif special:
            ids = model.encode(prompt)
        else:
            ids = encode_plain(model, prompt) if prompt else []
        texts = [model.token_text(token) for token in ids] if with_texts else None
        window = model.context_window
        return {"count": len(ids), "max_model_len": window, "tokens": ids, "token_strs": texts}

    return TokenizerQuestion(name, answer)


def read_detokenize(body: Mapping[str, Any]) -> TokenizerQuestion:
    """Read a request for the text of token ids; raise ApiError as `read_tokenize` does."""
    fields = Fields(body)
    name, ids = fields.text("model") or "", fields.token_ids("tokens")
    fields.finish(())

    def answer(model: LanguageModel) -> dict[str, Any]:
        wrong = next((token for token in ids if token >= model.vocab_size), None)
        if wrong is not None:
            raise fields.wrong("tokens", f"holds {wrong}; ids go to {model.vocab_size - 1}")
        return {"prompt": join_prompt(model, ids)}

    return TokenizerQuestion(name, answer)


def tokenizer_info(model: LanguageModel) -> dict[str, Any]:
    """Return a model's special tokens and chat template, as in its tokenizer's file.

    For a tokenizer that only a server has, return the end-of-sequence token.
    """
    tokenizer = getattr(model, "tokenizer", None)
    info: dict[str, Any] = {}
    if tokenizer is not None:
        info = {name: str(text) for name, text in tokenizer.special_tokens_map.items()}
        info["tokenizer_class"] = type(tokenizer).__name__
        info["chat_template"] = tokenizer.chat_template
    if model.eos_ids:
        info.setdefault("eos_token", model.token_text(min(model.eos_ids)))
    window = model.context_window
    return info if window is None else {**info, "model_max_length": window}
