"""Devices and number types, by the names that a user gives."""

from __future__ import annotations

from typing import Literal

import torch

from core.decoding.errors import ModelError
from core.decoding.validation import brief

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICES = ("cpu", "cuda", "mps", "xpu")


def device_named(device: str | torch.device | None) -> torch.device:
    """The device of a name, the CPU by default.

    Raises:
        ModelError: there is none on this machine.
    """
    try:
        target = torch.device("cpu" if device is None else device)
        if target.type not in _DEVICES:
            raise RuntimeError
        torch.empty(1, device=target)
    except (AssertionError, RuntimeError, TypeError):
        raise ModelError(
            f"The device {str(device)!r} can't be used on this machine; give cpu, or cuda or mps "
            "where there is one."
        ) from None
    return target


def number_type_named(
    dtype: str | torch.dtype | None, device: torch.device
) -> torch.dtype | Literal["auto"]:
    """The type of weights of a name; by default float32 on a CPU, the files' own elsewhere.

    Raises:
        ModelError: it is none of those that models are read in.
    """
    if dtype is None:
        return torch.float32 if device.type == "cpu" else "auto"
    name = str(dtype).removeprefix("torch.")
    if name not in _DTYPES:
        raise ModelError(f"dtype must be one of {', '.join(_DTYPES)}, got {brief(name)}.")
    return _DTYPES[name]
