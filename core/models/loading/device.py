"""Look up devices and number types by name."""

from __future__ import annotations

from typing import Literal

import torch

from ...decoding.errors import ModelError
from ...decoding.validation import brief
from ...language import Message

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICES = ("cpu", "cuda", "mps", "xpu")


def device_named(device: str | torch.device | None) -> torch.device:
    """Return the device with this name; the CPU by default.

    Raises:
        ModelError: this machine has no such device.
    """
    try:
        target = torch.device("cpu" if device is None else device)
        if target.type not in _DEVICES:
            raise RuntimeError
        torch.empty(1, device=target)
    except (AssertionError, RuntimeError, TypeError):
        raise ModelError(
            Message(
                "The device {device!r} can't be used on this machine; give cpu, or "
                "cuda or mps where there is one.",
                device=str(device),
            )
        ) from None
    return target


def number_type_named(
    dtype: str | torch.dtype | None, device: torch.device
) -> torch.dtype | Literal["auto"]:
    """Return the weights' number type; by default float32 on a CPU, elsewhere the files' type.

    Raises:
        ModelError: models can't be loaded in this type.
    """
    if dtype is None:
        return torch.float32 if device.type == "cpu" else "auto"
    name = str(dtype).removeprefix("torch.")
    if name not in _DTYPES:
        raise ModelError(
            Message(
                "dtype must be one of {dtypes}, got {given}.",
                dtypes=", ".join(_DTYPES),
                given=brief(name),
            )
        )
    return _DTYPES[name]
