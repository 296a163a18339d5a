"""What the models are trained to make small."""

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM

from training.rows import IGNORED

HIDDEN = -30_000.0  # added to a score that must not count
Layout = tuple[torch.Tensor, torch.Tensor]


def lay_out(ids: torch.Tensor, end_of_text: int, apart: bool) -> Layout:
    """Return the positions [batch, row] and the mask [batch, 1, row, row] of rows of documents.

    Where they are apart, positions begin anew in each document, which keeps its attention to
    itself; otherwise a row is one long text. The mask is added to the attention's scores.
    """
    index = torch.arange(ids.shape[1], device=ids.device)
    seen = index[:, None] >= index
    positions = index.expand(ids.shape)
    if apart:
        begins = functional.pad(ids[:, :-1] == end_of_text, (1, 0))
        positions = index - torch.where(begins, index, 0).cummax(1).values
        document = begins.cumsum(1)
        seen = seen & (document[:, None, :, None] == document[:, None, None, :])
    mask = torch.where(seen, 0.0, HIDDEN).expand(len(ids), 1, -1, -1)
    return positions, mask


def logits_of(model: LlamaForCausalLM, ids: torch.Tensor, layout: Layout) -> torch.Tensor:
    """The logits of all positions [batch, row, vocab]."""
    positions, mask = layout
    output = model(input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=False)
    logits: torch.Tensor = output.logits
    return logits


def next_token_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean cross entropy of the learned tokens, in nats."""
    return functional.cross_entropy(
        logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=IGNORED
    )


def distillation_loss(
    logits: torch.Tensor, teacher: torch.Tensor, labels: torch.Tensor, truth_share: float
) -> torch.Tensor:
    """The divergence from the teacher at the learned tokens, and a share of the cross entropy."""
    learned = labels[:, 1:] != IGNORED
    ours = functional.log_softmax(logits[:, :-1].float(), -1)
    theirs = functional.log_softmax(teacher[:, :-1].float(), -1)
    divergences = (theirs.exp() * (theirs - ours)).sum(-1)
    divergence = (divergences * learned).sum() / learned.sum()
    return (1 - truth_share) * divergence + truth_share * next_token_loss(logits, labels)
