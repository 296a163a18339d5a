"""The loss of a draft head: divergence from the target over several drafted tokens."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from core.models.heads.layer import HeadLayer, KeysValues
from training.losses import Layout, lay_out
from training.rows import IGNORED

# Weight of the loss of the first, second, ... drafted token.
WEIGHTS = (1.0, 0.8, 0.6)


class Lesson(NamedTuple):
    """The target's part of a batch: `hidden` and `embedded` are `[rows, n, width]`."""

    hidden: Tensor
    embedded: Tensor
    layout: Layout


@torch.no_grad()
def read(target: LlamaForCausalLM, ids: Tensor, apart: bool) -> Lesson:
    """Run the target over rows of ids `[rows, n]`."""
    layout = lay_out(ids, target.config.bos_token_id, apart)
    positions, mask = layout
    output = target.model(
        input_ids=ids, position_ids=positions, attention_mask=mask, use_cache=False
    )
    return Lesson(output.last_hidden_state, target.model.embed_tokens(ids), layout)


def head_losses(
    layer: HeadLayer, target: LlamaForCausalLM, ids: Tensor, labels: Tensor, apart: bool
) -> list[Tensor]:
    """Return the divergence of each drafted token from the target's distribution, nats a token.

    The head's first token reads the target's hidden states, each later one the head's own of the
    token before, with the keys that it has at that moment of a draft.
    """
    lesson = read(target, ids, apart)
    positions = lesson.layout[0]
    learned = functional.pad(labels[:, 1:] != IGNORED, (0, 1))
    with torch.no_grad():
        theirs = functional.log_softmax(target.lm_head(lesson.hidden[learned]).float(), -1)
    hidden, kept, losses = lesson.hidden, list[KeysValues](), list[Tensor]()
    for _ in WEIGHTS:
        previous = before(hidden, positions)
        mixed = layer.mixed(previous, lesson.embedded)
        query, new = layer.project(mixed, positions)
        kept.append(new)
        hidden = layer.finish(mixed, attend(query, kept, lesson.layout))
        ours = functional.log_softmax(target.lm_head(hidden[learned]).float(), -1)
        divergence = (theirs.exp() * (theirs - ours)).sum(-1)
        # The k-th token of a draft has k - 1 drafted ones and one that was read before it.
        drafted = (positions >= len(losses))[learned]
        losses.append((divergence * drafted).sum() / drafted.sum().clamp(min=1))
    return losses


def weighted(losses: list[Tensor]) -> Tensor:
    """Return the mean of the drafted tokens' losses by `WEIGHTS`."""
    total = sum(loss * weight for loss, weight in zip(losses, WEIGHTS, strict=True))
    return torch.as_tensor(total) / sum(WEIGHTS)


def before(hidden: Tensor, positions: Tensor) -> Tensor:
    """Return the hidden state of the token before each one; 0 before a document's first."""
    shifted = functional.pad(hidden, (0, 0, 1, 0))[:, :-1]
    return shifted * (positions > 0)[..., None]


def attend(query: Tensor, kept: list[KeysValues], layout: Layout) -> Tensor:
    """Attend as the newest token of a draft does; `[rows, heads, n, head_dim]`.

    Args:
        kept: keys and values of each pass: those of the first are of tokens that the target has
            read; of each later pass a token sees one key, its own or that of a drafted token.
    """
    positions, mask = layout
    repeats, back = query.shape[1] // kept[0].keys.shape[1], len(kept) - 1
    scale = query.shape[-1] ** -0.5
    keys = [part.keys.repeat_interleave(repeats, 1) for part in kept]
    values = [part.values.repeat_interleave(repeats, 1) for part in kept]
    # The first pass' keys end before the draft's first token: the mask's rows move down.
    hidden = torch.full_like(mask[:, :, :1], -30_000.0)
    moved = torch.cat([hidden.expand(-1, -1, back, -1), mask[:, :, : mask.shape[2] - back]], 2)
    moved = torch.where((positions >= back)[:, None, :, None], moved, -30_000.0)
    scores = [query @ keys[0].transpose(-1, -2) * scale + moved]
    aligned = []
    for at in range(1, len(kept)):
        shift = back - at
        key, value = (_moved(part, shift) for part in (keys[at], values[at]))
        aligned.append(value)
        known = torch.where(positions >= shift, 0.0, -30_000.0)[:, None, :, None]
        scores.append((query * key).sum(-1, keepdim=True) * scale + known)
    weights = torch.cat(scores, dim=-1).float().softmax(-1).to(query.dtype)
    count = keys[0].shape[2]
    attended = weights[..., :count] @ values[0]
    for at, value in enumerate(aligned):
        attended = attended + weights[..., count + at, None] * value
    return attended


def _moved(part: Tensor, shift: int) -> Tensor:
    """Return keys or values of the token `shift` places before each one."""
    return functional.pad(part, (0, 0, shift, 0))[:, :, : part.shape[2]]
