"""One measured number beside its goal."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.generation import continue_all


class Measure(NamedTuple):
    """A row of the model card; `reached` is None where there is nothing to reach."""

    name: str
    goal: str
    found: str
    reached: bool | None


class Subject(NamedTuple):
    """The models under evaluation, how many questions of each kind they are asked, and how many
    tokens a reply has at most.
    """

    target: LlamaForCausalLM
    draft: LlamaForCausalLM | None
    tokenizer: PreTrainedTokenizerFast
    questions: int
    longest: int

    def reply(self, prompts: Sequence[Sequence[int]], most: int, **options: Any) -> list[list[int]]:
        """The target's continuation of each prompt, as `continue_all` gives it."""
        return continue_all(self.target, prompts, min(most, self.longest), **options)


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:.1f} %"


def table(measures: list[Measure]) -> str:
    """The measures as a table in Markdown."""
    words = {True: "yes", False: "**no**", None: ""}
    lines = ["| | goal | measured | reached |", "|---|---|---|---|"]
    lines += [f"| {m.name} | {m.goal} | {m.found} | {words[m.reached]} |" for m in measures]
    return "\n".join(lines)
