"""A reward model: a sequence classifier of transformers that scores a reply to a question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..text.chat import render_chat


class RewardModel:
    """Scores replies; the higher the better. A model with two labels scores the second's lead.

    Args:
        isolated: run the chat template in a child process.
        described: what is to be known of its files, in a sentence; empty where nothing is.
    """

    def __init__(
        self,
        hf_model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        model_id: str,
        revision: str = "",
        isolated: bool = False,
        described: str = "",
    ) -> None:
        self.described = described
        self._hf_model, self._tokenizer, self._isolated = hf_model, tokenizer, isolated
        self.model_id, self.revision = model_id, revision

    @torch.inference_mode()
    def score(self, question: str, replies: Sequence[str]) -> list[float | None]:
        """A score for each reply, in the model's own unit; None where it doesn't fit,
        or holds a token that the model has no embedding for.

        Raises:
            PromptError: the chat template refuses the conversation, or doesn't end.
        """
        return [self._score(question, reply) for reply in replies]

    def _score(self, question: str, reply: str) -> float | None:
        ids = encode_pair(self._tokenizer, question, reply, self.model_id, self._isolated)
        config = self._hf_model.config
        window = getattr(config, "max_position_embeddings", None)
        if not ids or (window is not None and len(ids) > window):
            return None
        if max(ids) >= getattr(config, "vocab_size", math.inf):
            return None
        rows = torch.tensor([ids], device=self._hf_model.device)
        logits = self._hf_model(input_ids=rows).logits[0].double()
        score = float(logits[-1] - logits[0]) if len(logits) > 1 else float(logits[0])
        return score if score == score else None


def encode_pair(
    tokenizer: PreTrainedTokenizerBase,
    question: str,
    reply: str,
    model_id: str = "",
    isolated: bool = False,
) -> list[int]:
    """A question and its reply as one sequence of ids.

    Written by the tokenizer's chat template where it has one, else as the pair that classifiers
    are trained on.

    Raises:
        PromptError: the chat template refuses the conversation, or doesn't end.
    """
    if tokenizer.chat_template is None:
        return list(tokenizer(question, reply)["input_ids"])
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    text = render_chat(tokenizer, messages, False, model_id, isolated=isolated)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
