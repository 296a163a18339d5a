"""Texts of the model in training: the most confident masked tokens first, in blocks."""

from collections.abc import Sequence

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.diffusion.losses import hidden_states

BATCH = 32


@torch.no_grad()
def fill(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[Sequence[int]],
    length: int,
    block: int = 8,
    at_once: int = 1,
) -> list[list[int]]:
    """Return the tokens that the model writes behind each prompt, up to the end of the text.

    Args:
        length: tokens of the canvas behind the prompt.
        block: tokens of a block; a block is full before the next one begins.
        at_once: tokens of each row that a step fills.
    """
    found: list[list[int]] = []
    for at in range(0, len(prompts), BATCH):
        canvas = _Canvas(model, tokenizer, prompts[at : at + BATCH], length)
        for begin in range(0, length, block):
            for _ in range(0, block, at_once):
                canvas.step(begin, begin + block, at_once)
            if canvas.ended():
                break
        found += canvas.written()
    return found


class _Canvas:
    """Rows of a prompt with masks behind it, and a padding that no row attends to."""

    def __init__(
        self,
        model: LlamaForCausalLM,
        tokenizer: PreTrainedTokenizerFast,
        prompts: Sequence[Sequence[int]],
        length: int,
    ) -> None:
        self._model, self._mask, self._length = model, tokenizer.mask_token_id, length
        self._lengths = [len(prompt) for prompt in prompts]
        longest = max(self._lengths) + length
        self._ids = torch.full((len(prompts), longest), tokenizer.eos_token_id, device=model.device)
        self._rows = torch.ones_like(self._ids)
        for row, prompt in enumerate(prompts):
            self._ids[row, : len(prompt)] = torch.tensor(prompt)
            self._ids[row, len(prompt) : len(prompt) + length] = self._mask
            self._rows[row, : len(prompt) + length] = 0
        self._positions = torch.arange(longest, device=model.device).expand(self._ids.shape)
        self._starts = torch.tensor(self._lengths, device=model.device)[:, None]
        self._ends = model.config.eos_token_id

    def step(self, begin: int, end: int, count: int) -> None:
        """Fill the most confident masked tokens of each row's block."""
        place = self._positions - self._starts
        free = (place >= begin) & (place < end) & (self._ids == self._mask)
        states = hidden_states(self._model, self._ids, self._positions, self._rows)
        logits = self._model.lm_head(states).float()
        logits[..., self._mask] = -torch.inf
        probs, tokens = logits.softmax(-1).max(-1)
        best = torch.where(free, probs, -1.0).topk(count, dim=1).indices
        chosen = torch.zeros_like(free).scatter_(1, best, True) & free
        self._ids = torch.where(chosen, tokens, self._ids)

    def ended(self) -> bool:
        """Return True if every row holds an end of the text."""
        return all(set(row) & set(self._ends) for row in self._behind())

    def written(self) -> list[list[int]]:
        """Return each row's tokens behind the prompt, up to the end of the text."""
        found = []
        for row in self._behind():
            last = next((at for at, token in enumerate(row) if token in self._ends), len(row))
            found.append([token for token in row[:last] if token != self._mask])
        return found

    def _behind(self) -> list[list[int]]:
        rows = zip(self._ids.tolist(), self._lengths, strict=True)
        return [row[length : length + self._length] for row, length in rows]
