"""Training that was stopped goes on as if it had not been."""

import argparse
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import nn

from training.rows import Rows


@dataclass
class Progress:
    """How far a training is, and in which precision; losses are in nats a token."""

    steps: int = 0
    tokens: int = 0
    minutes: float = 0.0
    smooth_loss: float = 0.0
    bfloat16: bool = False
    curve: list[tuple[int, float, float]] = field(default_factory=list)  # tokens, minutes, loss

    def record(self, tokens: int, minutes: float, loss: float) -> None:
        """Count one step."""
        self.steps += 1
        self.tokens += tokens
        self.minutes = minutes
        self.smooth_loss = loss if self.steps == 1 else 0.98 * self.smooth_loss + 0.02 * loss

    def share(self, args: argparse.Namespace) -> float:
        """The share of the training that is done: of its steps or of its minutes."""
        return max(self.steps / int(args.steps), self.minutes / float(args.minutes))


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    rows: Rows,
    progress: Progress,
) -> None:
    """Write all that a training needs to go on, so that a crash leaves the last one whole."""
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "text": rows.state,
        "torch": torch.get_rng_state(),
        "progress": asdict(progress),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    torch.save(state, unfinished)
    unfinished.replace(path)


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, rows: Rows
) -> Progress:
    """Put everything back as it was, and return how far the training was."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    rows.restore(state["text"])
    torch.set_rng_state(state["torch"])
    return Progress(**state["progress"])
