"""The training loop: steps, checkpoints, progress."""

import argparse
import math
import time
from collections.abc import Callable
from timeit import Timer

import torch
from torch import nn
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.checkpoint import Progress, load_checkpoint, save_checkpoint
from training.glance import glance
from training.losses import distillation_loss, lay_out, logits_of, next_token_loss
from training.models import build_model
from training.rows import LONG, SHORT, Rows

LOWEST_SHARE, WARM_UP_STEPS = 0.03, 100  # of the peak rate; steps
APART_SHARE = 0.85  # of the steps: the documents of their rows don't see each other
TRUTH_SHARE = 0.1  # of the draft's loss; the rest is the divergence from the target
CURVE_STEPS = 50  # between two points of the loss curve

RowLoss = Callable[[torch.Tensor, torch.Tensor, bool], torch.Tensor]


def make_optimizer(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """Decay the matrices and leave the norms alone."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    norms = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))


def learning_rate(peak: float, step: int, progress: float) -> float:
    """Rise over the first steps, then fall along a cosine; progress runs from 0 to 1."""
    warm = min(1.0, (step + 1) / WARM_UP_STEPS)
    cosine = (1 + math.cos(math.pi * min(1.0, progress))) / 2
    return peak * warm * (LOWEST_SHARE + (1 - LOWEST_SHARE) * cosine)


def ready(model: LlamaForCausalLM, device: str) -> LlamaForCausalLM:
    """Move a model to its device; on a CPU plain attention is faster than the fused one."""
    if device == "cpu":
        model.set_attn_implementation("eager")
    return model.to(device)


def bfloat16_is_faster(device: str) -> bool:
    """Whether matrix products are faster in bfloat16 here: not on every CPU, so it is tried."""
    if device != "cpu":
        return True
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.ones(1024, 256, dtype=dtype), torch.ones(256, 704, dtype=dtype)
        timer = Timer("left @ right", globals={"left": left, "right": right})
        seconds[dtype] = min(timer.repeat(repeat=5, number=1))
    return seconds[torch.bfloat16] < seconds[torch.float32]


def target_loss(model: LlamaForCausalLM) -> RowLoss:
    """The loss of rows as the target learns them."""

    def loss(ids: torch.Tensor, labels: torch.Tensor, apart: bool) -> torch.Tensor:
        layout = lay_out(ids, model.config.bos_token_id, apart)
        return next_token_loss(logits_of(model, ids, layout), labels)

    return loss


def draft_loss(model: LlamaForCausalLM, teacher: LlamaForCausalLM) -> RowLoss:
    """The loss of rows as the draft learns them from the target."""

    def loss(ids: torch.Tensor, labels: torch.Tensor, apart: bool) -> torch.Tensor:
        layout = lay_out(ids, model.config.bos_token_id, apart)
        with torch.no_grad():
            theirs = logits_of(teacher, ids, layout)
        return distillation_loss(logits_of(model, ids, layout), theirs, labels, TRUTH_SHARE)

    return loss


@torch.no_grad()
def held_out_loss(model: LlamaForCausalLM, rows: Rows, count: int) -> float:
    """The float32 loss on rows from a seed that the training never saw, documents apart."""
    model.eval()
    loss = target_loss(model)
    losses = [loss(*_on(model, rows.take(1, apart=True)), True) for _ in range(count)]
    model.train()
    return float(torch.stack(losses).mean())


class Training:
    """A model, its optimizer and its text; `run` takes it to the end."""

    def __init__(
        self,
        args: argparse.Namespace,
        tokenizer: PreTrainedTokenizerFast,
        shares: dict[str, float] | None,
    ) -> None:
        self.args, self.tokenizer = args, tokenizer
        model = (
            LlamaForCausalLM.from_pretrained(args.start)
            if args.start
            else build_model(tokenizer, args.role)
        )
        self.model = ready(model, args.device)
        self.optimizer = make_optimizer(self.model, args.rate)
        self.rows = Rows(tokenizer, args.seed + 2, shares)
        self.progress = Progress(bfloat16=bfloat16_is_faster(args.device))
        self.loss = target_loss(self.model)
        if args.role == "draft":
            teacher = LlamaForCausalLM.from_pretrained(args.target)
            self.loss = draft_loss(self.model, ready(teacher, args.device).eval())
        if args.compile:
            self.loss = torch.compile(self.loss, dynamic=False)
        self.checkpoint = args.checkpoints / f"{args.role}.pt"
        if args.resume and self.checkpoint.exists():
            self.progress = load_checkpoint(self.checkpoint, self.model, self.optimizer, self.rows)

    def step(self) -> float:
        """Learn from the next rows; return their loss in nats a token."""
        for group in self.optimizer.param_groups:
            share = self.progress.share(self.args)
            group["lr"] = learning_rate(self.args.rate, self.progress.steps, share)
        apart = torch.rand(()).item() < APART_SHARE
        count = self.args.batch * (LONG // SHORT if apart else 1)
        ids, labels = _on(self.model, self.rows.take(count, apart))
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.progress.bfloat16):
            loss = self.loss(ids, labels, apart)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def run(self) -> None:
        """Train until the steps or the minutes are used up, with checkpoints and glances."""
        began = time.monotonic() - 60 * self.progress.minutes
        saved = glanced = self.progress.minutes
        self.model.train()
        with tqdm(total=100, unit="%", mininterval=20, bar_format="{l_bar}{bar}|{postfix}") as bar:
            while self.progress.share(self.args) < 1:
                loss = self.step()
                minutes = (time.monotonic() - began) / 60
                self.progress.record(self.args.batch * LONG, minutes, loss)
                self._show(bar)
                if minutes - saved > self.args.checkpoint_minutes:
                    self.save()
                    saved = minutes
                if minutes - glanced > self.args.glance_minutes:
                    self._glance()
                    glanced = minutes
        self.save()

    def save(self) -> None:
        """Keep the place."""
        save_checkpoint(self.checkpoint, self.model, self.optimizer, self.rows, self.progress)

    def _show(self, bar: tqdm) -> None:
        done = self.progress
        if done.steps % CURVE_STEPS == 0:
            done.curve.append((done.tokens, round(done.minutes, 3), round(done.smooth_loss, 5)))
            speed = done.tokens / done.minutes / 60
            bar.set_postfix_str(
                f"step {done.steps}, {done.tokens / 1e6:.2f}M tokens, {done.minutes:.1f} min, "
                f"{speed:.0f} tokens/s, loss {done.smooth_loss:.4f}",
                refresh=False,
            )
        bar.update(100 * done.share(self.args) - bar.n)

    def _glance(self) -> None:
        state = torch.get_rng_state()
        print("\n" + glance(self.model, self.tokenizer), flush=True)
        torch.set_rng_state(state)
        self.model.train()


def _on(
    model: LlamaForCausalLM, pair: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    return pair[0].to(model.device), pair[1].to(model.device)
