"""What the diffusion model makes small: the cross entropy of the masked tokens."""

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM

from training.losses import HIDDEN
from training.rows import IGNORED


def hidden_states(
    model: LlamaForCausalLM,
    ids: torch.Tensor,
    positions: torch.Tensor,
    documents: torch.Tensor,
) -> torch.Tensor:
    """Return the last hidden states [batch, row, width]; a document attends to itself alone."""
    same = documents[:, None, :, None] == documents[:, None, None, :]
    mask = torch.where(same, 0.0, HIDDEN).to(model.dtype)
    if torch.is_autocast_enabled(ids.device.type):
        mask = mask.to(torch.get_autocast_dtype(ids.device.type))
    output = model.model(
        input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=False
    )
    states: torch.Tensor = output.last_hidden_state
    return states


def masked_loss(model: LlamaForCausalLM, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the weighted loss of the masked tokens, in nats, over the batch's tokens."""
    states = hidden_states(model, batch["ids"], batch["positions"], batch["documents"])
    learned = batch["labels"] != IGNORED
    logits = model.lm_head(states[learned]).float()
    losses = functional.cross_entropy(logits, batch["labels"][learned], reduction="none")
    return (losses * batch["weights"][learned]).sum() / learned.numel()
