"""The mean of two trainings' weights: ``python -m training.average FIRST SECOND --out FOLDER``.

Models that went on from the same weights lie close together, and their mean often does what either
of them does (Wortsman et al. 2022, "Model soups").
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from training.loop import held_out_loss
from training.models import store
from training.rows import Rows
from training.train import HELD_OUT_ROWS


def average(first: Path, second: Path, out: Path) -> None:
    """Store the mean of two models beside the tokenizer and the story of the second."""
    model, other = (LlamaForCausalLM.from_pretrained(folder) for folder in (first, second))
    with torch.no_grad():
        for own, others in zip(model.parameters(), other.parameters(), strict=True):
            own.add_(others).div_(2)
    tokenizer = AutoTokenizer.from_pretrained(second)
    store(model, tokenizer, out)
    for name in ("loss.csv", "loss.svg"):
        shutil.copyfile(second / name, out / name)
    told = json.loads((second / "training.json").read_text(encoding="utf-8"))
    stored = LlamaForCausalLM.from_pretrained(out)
    losses = [
        round(held_out_loss(one, Rows(tokenizer, told["seed"] + 1), HELD_OUT_ROWS), 4)
        for one in (model, stored)
    ]
    told |= {"held_out_loss": losses[0], "stored_loss": losses[1], "averaged": True}
    (out / "training.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and store the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(arguments)
    average(args.first, args.second, args.out)


if __name__ == "__main__":
    main()
