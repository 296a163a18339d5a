"""Texts of the model in training: the most confident masked token first, in blocks."""

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.diffusion.losses import hidden_states


@torch.no_grad()
def fill(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: list[list[int]],
    length: int,
    block: int,
) -> list[list[int]]:
    """Return the tokens that the model writes behind each prompt, up to the end of the text.

    One token of each row is filled in a step.
    """
    longest = max(map(len, prompts)) + length
    ids = torch.full((len(prompts), longest), tokenizer.eos_token_id, device=model.device)
    documents = torch.ones_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
        ids[row, len(prompt) : len(prompt) + length] = tokenizer.mask_token_id
        documents[row, : len(prompt) + length] = 0
    positions = torch.arange(longest, device=model.device).expand(ids.shape)
    starts = torch.tensor([[len(prompt)] for prompt in prompts], device=model.device)
    for begin in range(0, length, block):
        here = (positions >= starts + begin) & (positions < starts + begin + block)
        for _ in range(block):
            logits = model.lm_head(hidden_states(model, ids, positions, documents)).float()
            logits[..., tokenizer.mask_token_id] = -torch.inf
            best, tokens = logits.softmax(-1).max(-1)
            open_places = here & (ids == tokenizer.mask_token_id)
            place = torch.where(open_places, best, -1.0).argmax(1, keepdim=True)
            filled = torch.where(
                open_places.any(1, keepdim=True), tokens.gather(1, place), ids.gather(1, place)
            )
            ids.scatter_(1, place, filled)
    found = []
    for row, prompt in enumerate(prompts):
        written = ids[row, len(prompt) : len(prompt) + length].tolist()
        ends = [place for place, token in enumerate(written) if token in (0, 4)]
        found.append(written[: ends[0]] if ends else written)
    return found
