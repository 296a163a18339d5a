"""Many prompts continued at once, for evaluations that need thousands of answers."""

from collections.abc import Sequence

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.corpus.tokens import ASSISTANT, END_OF_TURN, SYSTEM, USER

BATCH = 64


def chat_ids(tokenizer: PreTrainedTokenizerFast, question: str, system: str = "") -> list[int]:
    """The ids of a question in the chat markup, up to where the model is to answer."""
    head = f"{SYSTEM}{system}{END_OF_TURN}" if system else ""
    return encode(tokenizer, f"{head}{USER}{question}{END_OF_TURN}{ASSISTANT}")


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    """The ids of a text; special tokens in it are taken as such."""
    ids: list[int] = tokenizer(text)["input_ids"]
    return ids


@torch.no_grad()
def continue_all(
    model: LlamaForCausalLM,
    prompts: Sequence[Sequence[int]],
    most: int,
    *,
    temperature: float = 0.0,
    stop: Sequence[int] = (),
) -> list[list[int]]:
    """Continue each prompt by at most `most` tokens; an ending token is kept as the last one.

    Greedy at temperature 0; otherwise drawn with torch's own generator.
    """
    model.eval()
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    found: list[list[int]] = [[] for _ in prompts]
    ends = [*model.generation_config.eos_token_id, *stop]
    for at in range(0, len(order), BATCH):
        chosen = order[at : at + BATCH]
        rows = _continue(model, [prompts[index] for index in chosen], most, temperature, ends)
        for index, row in zip(chosen, rows, strict=True):
            found[index] = row
    return found


def _continue(
    model: LlamaForCausalLM,
    prompts: Sequence[Sequence[int]],
    most: int,
    temperature: float,
    ends: list[int],
) -> list[list[int]]:
    longest, pad = max(map(len, prompts)), ends[0]
    padding = [longest - len(prompt) for prompt in prompts]
    ids = [[pad] * before + [*prompt] for before, prompt in zip(padding, prompts, strict=True)]
    mask = [[0] * before + [1] * (longest - before) for before in padding]
    output = model.generate(
        torch.tensor(ids, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        max_new_tokens=most,
        do_sample=temperature > 0,
        temperature=temperature or None,
        top_k=0 if temperature else None,
        eos_token_id=ends,
        pad_token_id=pad,
    )
    return [_until_end(row, ends) for row in output[:, longest:].tolist()]


def _until_end(row: list[int], ends: list[int]) -> list[int]:
    for index, token in enumerate(row):
        if token in ends:
            return row[: index + 1]
    return row
