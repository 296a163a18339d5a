"""Names of the machine that a measurement ran on."""

from __future__ import annotations

import platform

import torch

from core.decoding.counting import counted


def processor() -> str:
    """Return the processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line for line in lines if line.startswith("model name"))
            return model.partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def machine(device: str | None) -> str:
    """Return the card with its version of CUDA, or the processor with the threads of torch."""
    if device is not None and device.startswith("cuda"):
        return f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    return f"{processor()}, {counted(torch.get_num_threads(), 'thread')}"
