"""Load a `TransformersModel` from a folder or a hub id, or raise an error of one sentence.

Untrusted files are handled in this order: check the files (`folder`), the configuration's numbers
(`bounds`), and free memory (`memory`); in a child process, read configuration and tokenizer and
build the model without its weights (`inspection`); then repeat this in this process, with weights
of a known size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

import torch
from huggingface_hub import constants
from transformers import (
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from ...decoding.errors import DecodingError, ModelError
from ...language import N_, Message
from ..gguf.cache import source_of
from ..gguf.source import converted_folder, gguf_in
from ..heads.draft_head import load_head
from ..heads.layer import is_head
from ..hub_id import hub_id
from ..isolation.client import LimitError, RequestLimits, ask
from ..places import EMBEDDED_TARGET, embedded_folder
from ..reporting import current_report
from ..rewards.reward_model import RewardModel
from ..rewards.verifier import is_verifier, load_verifier
from ..running.masked import wrapped
from ..stopping import never, raise_if_stopped, stoppable
from ..transformers_model import TransformersModel
from . import hub
from .bounds import check_config
from .device import device_named, number_type_named
from .errors import explain, explaining
from .folder import check_folder, state_of, weights_digest
from .inspection import (
    LOCAL,
    Head,
    Inspected,
    auto_class,
    load_config,
    load_tokenizer,
)
from .memory import free_bytes, reserved
from .quiet import quiet
from .reading import read_through_here
from .shared_state import hold_while_building
from .surplus import left_out, surplus_of_another_model

T = TypeVar("T")
Assemble: TypeAlias = Callable[
    [PreTrainedModel, PreTrainedTokenizerBase, torch.device, "ModelSource", str, str], T
]

_FETCHING = RequestLimits(cpu_seconds=3_600, seconds=24 * 3_600.0, memory_bytes=2**30)
_MOST_INSPECTION_BYTES = 3 * 2**29

hold_while_building()
read_through_here()


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Name and folder of a model.

    Args:
        model_id: the user's name of the model.
        folder: the folder or the GGUF file; None for a model on the hub.
        trusted: True if the model came with the app or with an installed package.
    """

    model_id: str
    folder: Path | None
    trusted: bool = False


def load_transformers_model(
    source: ModelSource,
    dtype: str | torch.dtype | None,
    device: str | torch.device | None,
    should_stop: Callable[[], bool] = never,
) -> TransformersModel:
    """Load a model.

    Raises:
        ModelError: loading failed; the message is one sentence.
        LoadingStoppedError: `should_stop` returned true.
    """
    if source.trusted and source.folder is not None and is_head(source.folder):
        own = ModelSource(EMBEDDED_TARGET, embedded_folder("target"), trusted=True)
        target = load_transformers_model(own, dtype, device, should_stop)
        return load_head(source.folder, target, source.model_id)
    return _load_as("writes", _assemble, source, dtype, device, should_stop)


def load_scorer(
    source: ModelSource,
    dtype: str | torch.dtype | None,
    device: str | torch.device | None,
    should_stop: Callable[[], bool] = never,
) -> RewardModel:
    """Load a model that scores whole texts; raise the errors of `load_transformers_model`."""
    if source.trusted and source.folder is not None and is_verifier(source.folder):
        place = device_named(device)
        number_type = number_type_named(dtype, place)
        raise_if_stopped(should_stop)
        with quiet():
            return load_verifier(
                source.folder, embedded_folder("target"), source.model_id, place, number_type
            )
    return _load_as("scores", _assemble_scorer, source, dtype, device, should_stop)


def _load_as(
    head: Head,
    assemble: Assemble[T],
    source: ModelSource,
    dtype: str | torch.dtype | None,
    device: str | torch.device | None,
    should_stop: Callable[[], bool],
) -> T:
    target = device_named(device)
    number_type = number_type_named(dtype, target)
    if source.folder is None:
        hub_id(source.model_id)
    with quiet(), ExitStack() as reservation:
        folder, revision = _folder_of(source, number_type, should_stop)
        if not source.trusted:
            seen = state_of(folder)
            needed = _inspect(folder, source, number_type, should_stop, head)
            reservation.enter_context(reserved(source.model_id, needed, should_stop))
            if state_of(folder) != seen:
                raise ModelError(
                    Message(
                        "The files of {source} changed while they were checked; load "
                        "the model again.",
                        source=_in_sentence(source),
                    )
                )
        config = load_config(folder, source.model_id, head)
        tokenizer = load_tokenizer(folder, source.model_id)
        with stoppable(should_stop):
            hf_model, note = _load_weights(folder, source.model_id, config, number_type, head)
        raise_if_stopped(should_stop)
        digest = revision or weights_digest(folder)
        return assemble(hf_model, tokenizer, target, source, digest, note)


def _folder_of(
    source: ModelSource, dtype: torch.dtype | Literal["auto"], should_stop: Callable[[], bool]
) -> tuple[Path, str]:
    """Return the folder to load, and the revision of the model for traces."""
    if source.folder is None:
        folder = fetch_model(source.model_id, should_stop)
        return folder, folder.name
    name = _in_sentence(source)
    file = gguf_in(source.folder, name)
    if file is None:
        return source.folder, ""
    number_type = str(torch.float32 if dtype == "auto" else dtype).removeprefix("torch.")
    folder = converted_folder(file, source.model_id, name, number_type, should_stop)
    return folder, source_of(folder, file)


def fetch_model(model_id: str, should_stop: Callable[[], bool], *, weights: bool = True) -> Path:
    """Download a hub model and return its folder; without `weights`, only its small files."""
    arguments: dict[str, Any] = {
        "model_id": model_id,
        "weights": weights,
        "online": hub.hub_answers(),
        "cache_dir": constants.HF_HUB_CACHE,
    }
    try:
        return Path(ask("fetch", _FETCHING, should_stop, **arguments))
    except LimitError as error:
        raise ModelError(
            Message(
                "Getting {model} from the hub {reason}; use another model.",
                model=model_id,
                reason=error.reason,
            )
        ) from None


def _inspect(
    folder: Path,
    source: ModelSource,
    dtype: torch.dtype | Literal["auto"],
    should_stop: Callable[[], bool],
    head: Head,
) -> int:
    """Check that the folder can be loaded safely; return the bytes that the model needs."""
    name = _in_sentence(source)
    check_config(check_folder(folder, name).config, name)
    memory = min(_MOST_INSPECTION_BYTES, free_bytes() // 2)
    limits = RequestLimits(cpu_seconds=30, seconds=120.0, memory_bytes=memory)
    try:
        arguments = {
            "folder": str(folder.absolute()),
            "model_id": source.model_id,
            "head": head,
        }
        sizes = cast("Inspected", ask("inspect", limits, should_stop, **arguments))
    except LimitError as error:
        raise ModelError(
            Message(
                "Reading {model} {reason}; use another model.",
                model=source.model_id,
                reason=error.reason,
            )
        ) from None
    size = 2 if dtype == "auto" else dtype.itemsize
    # Plus one weight: the largest is held twice during the layout.
    return size * (sizes["parameters"] + sizes["largest"]) + sizes["buffer_bytes"]


def _in_sentence(source: ModelSource) -> str:
    """Return the model's name for messages: the path as the user wrote it, or the hub id."""
    return source.model_id if source.folder is None else str(Path(source.model_id))


def _load_weights(
    folder: Path,
    model_id: str,
    config: PreTrainedConfig,
    dtype: torch.dtype | Literal["auto"],
    head: Head,
) -> tuple[PreTrainedModel, str]:
    """Return the model, and a note on tensors in its files that it doesn't use."""
    with explaining(model_id, "weights"):
        model, report = auto_class(head, config).from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            output_loading_info=True,
            **LOCAL,
        )
    if lacking := report["missing_keys"]:
        raise ModelError(
            Message(
                "The weights of {model} are incomplete: {tensors}; get the model's files again.",
                model=model_id,
                tensors=_tensors(lacking, "missing"),
            )
        )
    surplus = {str(name) for name in report["unexpected_keys"]}
    if foreign := surplus_of_another_model(model, surplus):
        raise ModelError(
            Message(
                "The weights of {model} are of another model than its config.json: "
                "{tensors}; get both from the same place.",
                model=model_id,
                tensors=_tensors(foreign, N_("left over")),
            )
        )
    return cast(PreTrainedModel, model), left_out(surplus)


def _tensors(names: Collection[object], state: str) -> str:
    """Return a phrase with the number of tensors in this state, and one name."""
    first, *others = sorted(str(name) for name in names)
    if not others:
        return Message("the tensor {name} is {state}", name=first, state=Message(state))
    return Message(
        "{count} tensors are {state}, {name} among them",
        count=len(names),
        state=Message(state),
        name=first,
    )


def _assemble(
    hf_model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    device: torch.device,
    source: ModelSource,
    revision: str,
    note: str,
) -> TransformersModel:
    """Return the model on its device, after a test step with one token."""
    current_report()(N_("Weights are read; trying a step"))
    with explaining(source.model_id, N_("first step")):
        model = wrapped(
            hf_model.to(device),
            tokenizer,
            model_id=source.model_id,
            revision=revision,
            isolate_templates=not source.trusted,
            left_out=note,
        )
        broken = bool(model.trial_logits().isnan().any())
    if broken:
        raise ModelError(
            Message(
                "The weights of {model} give logits that are no numbers; get its files "
                "again, or load it in float32.",
                model=source.model_id,
            )
        )
    return model


def _assemble_scorer(
    hf_model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    device: torch.device,
    source: ModelSource,
    revision: str,
    note: str,
) -> RewardModel:
    """Return the model on its device, after a test score."""
    model = RewardModel(
        hf_model.to(device).eval(), tokenizer, source.model_id, revision, not source.trusted, note
    )
    try:
        model.score("a", ["b"])
    except DecodingError:
        raise
    except Exception as error:
        raise explain(source.model_id, N_("first score"), error) from None
    return model
