"""Multi-token-prediction (MTP) layers that a model's configuration names."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel
from transformers.modeling_layers import MtpModel


def count_mtp_layers(model: PreTrainedModel) -> int:
    """Return the number of MTP layers that a model's configuration names."""
    count = getattr(model.config.get_text_config(decoder=True), "num_mtp_layers", None)
    return count if isinstance(count, int) and count > 0 else 0


def without_weights(model: PreTrainedModel) -> MtpModel:
    """Return the MTP layers without memory for their weights."""
    with torch.device("meta"):
        return MtpModel(model, count_mtp_layers(model))
