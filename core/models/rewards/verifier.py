"""The embedded reward model: a token-level verifier that reads what the embedded target expected.

The target stays as it is. At each token a small recurrent head reads its last hidden states there
and one token before, and the log-probability that it gave the token (after the token-level verifier
of Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems").
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, cast

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoTokenizer, LlamaForCausalLM
from transformers.modeling_outputs import SequenceClassifierOutput

from ...decoding.errors import ModelError
from ...decoding.files import write_file
from ...language import Message
from ..loading.folder import weights_digest
from .reward_model import RewardModel

WEIGHTS, SETTINGS = "head.safetensors", "config.json"
WIDTH = 48
# A token that the target all but excludes says no more than this, nats.
_LEAST_LOGPROB = -8.0


class VerifierHead(nn.Module):
    """A score for each token: above 0, all up to it looks right."""

    def __init__(self, hidden_size: int, width: int = WIDTH) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * hidden_size + 1, width)
        self.memory = nn.GRU(width, width, batch_first=True)
        self.score = nn.Linear(width, 1)

    def forward(self, hidden: Tensor, logprobs: Tensor) -> Tensor:
        """Scores `[rows, n]`; hidden states `[rows, n, hidden]`, logprobs `[rows, n]` in nats."""
        before = functional.pad(hidden, (0, 0, 1, 0))[:, :-1]
        bounded = logprobs.clamp(min=_LEAST_LOGPROB)[..., None]
        mixed = functional.gelu(self.mix(torch.cat([bounded, hidden, before], dim=-1)))
        scores: Tensor = self.score(self.memory(mixed)[0])
        return scores[..., 0]


class Verifier(nn.Module):
    """The target with a head; called as a sequence classifier of transformers with one label."""

    def __init__(self, target: LlamaForCausalLM, head: VerifierHead) -> None:
        super().__init__()
        self.target, self.head, self.config = target, head, target.config

    @property
    def device(self) -> torch.device:
        """Device of the target."""
        return cast(torch.device, self.target.device)

    def forward(self, input_ids: Tensor) -> SequenceClassifierOutput:
        """The score of the last token, `logits [rows, 1]`, of ids `[rows, n]` without padding."""
        return SequenceClassifierOutput(logits=self.head(*read(self.target, input_ids))[:, -1:])


@torch.inference_mode()
def read(target: LlamaForCausalLM, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return a head's inputs for ids `[rows, n]`: hidden states and logprobs, 0 for the first."""
    hidden = target.model(input_ids=ids, use_cache=False).last_hidden_state
    logprobs = target.lm_head(hidden[:, :-1]).log_softmax(-1)
    return hidden, functional.pad(logprobs.gather(-1, ids[:, 1:, None])[..., 0], (1, 0))


def is_verifier(folder: Path) -> bool:
    """Return True for a folder with a head."""
    return (folder / WEIGHTS).is_file()


def load_verifier(
    folder: Path,
    target: Path,
    model_id: str,
    device: torch.device | None = None,
    dtype: torch.dtype | Literal["auto"] = "auto",
) -> RewardModel:
    """The head of a folder on the target of another, in float32 where `dtype` is "auto".

    Raises:
        ModelError: the head was trained on another target.
    """
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    if settings["target"] != weights_digest(target):
        raise ModelError(
            Message("{model} was trained on another target; train it again.", model=model_id)
        )
    head = VerifierHead(settings["hidden_size"], settings["width"])
    head.load_state_dict(load_file(folder / WEIGHTS))
    model = LlamaForCausalLM.from_pretrained(target, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(target)
    verifier = Verifier(model, head).eval().to(device)
    verifier = verifier if dtype == "auto" else verifier.to(dtype)
    return RewardModel(verifier, tokenizer, model_id, weights_digest(folder))


def store_head(head: VerifierHead, folder: Path, target: Path) -> None:
    """Write a head, with what it was trained on."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(head.state_dict(), folder / WEIGHTS)
    settings = {
        "model_type": "decoding_explorer_verifier",
        "hidden_size": (head.mix.in_features - 1) // 2,
        "width": head.score.in_features,
        "target": weights_digest(target),
    }
    write_file(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")
