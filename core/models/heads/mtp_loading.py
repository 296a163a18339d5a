"""Load a model's own multi-token-prediction (MTP) layers from the files that it was loaded from."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from transformers import PreTrainedModel
from transformers.modeling_layers import MtpModel

from ...decoding.errors import ModelError
from ...decoding.protocol import LanguageModel
from ...language import N_, Message
from ..loading.errors import explaining
from ..loading.folder import check_folder, weights_digest
from ..loading.memory import reserved
from ..loading.quiet import quiet
from ..stopping import never
from .mtp import MtpHead
from .mtp_layers import count_mtp_layers, without_weights

_PART = N_("multi-token-prediction layers")


class LoadedModel(LanguageModel, Protocol):
    """A model of transformers, as `TransformersModel`."""

    hf_model: PreTrainedModel


def load_mtp_head(target: LoadedModel) -> MtpHead:
    """Load the MTP layers in the target's number type, on its device.

    Raises:
        ModelError: the configuration names none, the files hold none that transformers finds, they
            have changed, or the memory is too small.
    """
    model, name = target.hf_model, target.model_id
    if not count_mtp_layers(model):
        raise ModelError(
            Message(
                "{model} has no multi-token-prediction layers: take another draft source.",
                model=name,
            )
        )
    folder = Path(model.config.name_or_path)
    if not model.config.name_or_path or not folder.is_dir():
        raise ModelError(
            Message(
                "The multi-token-prediction layers of {model} are read from the folder that it was "
                "loaded from, and it has none: load it from a folder.",
                model=name,
            )
        )
    check_folder(folder, name)
    if target.revision and target.revision not in (folder.name, weights_digest(folder)):
        raise ModelError(
            Message(
                "The files of {model} are no longer those that it was loaded from; load the model "
                "again.",
                model=name,
            )
        )
    with quiet(), explaining(name, _PART):
        weights = without_weights(model).layers.parameters()
        needed = sum(weight.numel() for weight in weights) * model.dtype.itemsize
        with reserved(name, needed, never):
            layers = _loaded(model, name)
    return MtpHead(target, layers)


def _loaded(model: PreTrainedModel, name: str) -> MtpModel:
    try:
        layers = MtpModel.from_pretrained(model, device_map={"": model.device})
    except (RuntimeError, TypeError, ValueError) as error:
        # A weight that is missing, or a class of which transformers doesn't know the names.
        lacking = "missing from" in str(error) or "_keys_to_ignore" in str(error)
        if not (lacking or "any known MTP layer" in str(error) or isinstance(error, TypeError)):
            raise
        raise ModelError(
            Message(
                "The files of {model} hold no multi-token-prediction layers where transformers "
                "looks for them, though its config.json names {count}: take another draft source.",
                model=name,
                count=count_mtp_layers(model),
            )
        ) from None
    # The configuration may name another number type than the model has now.
    return layers.to(model.dtype).eval()
