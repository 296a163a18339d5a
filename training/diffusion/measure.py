"""How far the diffusion model is: its losses on held-out rows, and a glance at what it writes."""

import random

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.corpus import facts
from training.diffusion.generation import fill
from training.diffusion.losses import masked_loss
from training.evaluation.measure import Measure, percent
from training.generation import chat_ids, encode
from training.glance import last_number, states
from training.rows import IGNORED, SHORT, Rows

SHARES = (0.15, 0.5, 0.85)  # of the tokens that are masked
SUMS, BATCH = 60, 16


@torch.no_grad()
def held_out_losses(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, seed: int, count: int
) -> dict[str, float]:
    """Return the mean loss of masked tokens, in nats, by the share of masked tokens.

    The model reads `count` rows from a seed that the training never saw, documents apart.
    """
    ids, labels = Rows(tokenizer, seed).take(count, apart=True)
    begins = functional.pad(ids[:, :-1] == tokenizer.eos_token_id, (1, 0))
    index = torch.arange(SHORT)
    rows = {
        "weights": torch.ones(ids.shape),
        "positions": index - torch.where(begins, index, 0).cummax(1).values,
        "documents": begins.cumsum(1),
    }
    found = {}
    for share in SHARES:
        drawn = torch.rand(ids.shape, generator=torch.Generator().manual_seed(seed))
        hidden = (drawn < share) & (labels != IGNORED)
        rows["ids"] = torch.where(hidden, tokenizer.mask_token_id, ids)
        rows["labels"] = torch.where(hidden, labels, IGNORED)
        total = 0.0
        for at in range(0, count, BATCH):
            batch = {name: part[at : at + BATCH].to(model.device) for name, part in rows.items()}
            total += float(masked_loss(model, batch)) * batch["ids"].numel()
        found[f"{share:.2f}"] = round(total / int(hidden.sum()), 4)
    return found


def measure_facts(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, count: int
) -> Measure:
    """Return the share of the facts that are right in phrasings which no training text has."""
    every = facts.held_out()
    asked = random.Random(4).sample(every, min(len(every), count))
    prompts = [chat_ids(tokenizer, question) for question, _ in asked]
    replies = tokenizer.batch_decode(fill(model, tokenizer, prompts, 40))
    right = [states(reply, answer) for reply, (_, answer) in zip(replies, asked, strict=True)]
    share = sum(right) / len(right)
    name = f"facts, {len(asked)} held-out phrasings"
    return Measure(name, "at least 80 %", percent(share), share >= 0.8)


def glance(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> str:
    """Return the share of right facts and right sums of two numbers, and a few texts."""
    rng = random.Random(2)
    pairs = [(rng.randint(1, 99), rng.randint(1, 99)) for _ in range(SUMS)]
    prompts = [chat_ids(tokenizer, f"What is {one} + {two}?") for one, two in pairs]
    replies = tokenizer.batch_decode(fill(model, tokenizer, prompts, 32))
    right = [last_number(text) == sum(pair) for text, pair in zip(replies, pairs, strict=True)]
    lines = [measure_facts(model, tokenizer, SUMS).found, f"{sum(right)} of {SUMS} sums"]
    story = chat_ids(tokenizer, "Tell me a story about a fox and a lantern.")
    for ids in (encode(tokenizer, "Once upon a time"), story):
        lines.append(tokenizer.decode(ids + fill(model, tokenizer, [ids], 96)[0]))
    return "\n".join(lines)
