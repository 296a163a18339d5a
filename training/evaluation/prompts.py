"""The example prompts that come with the target for the app's menu."""

import json
from pathlib import Path
from typing import TypedDict

from transformers import PreTrainedTokenizerFast

from training.generation import chat_ids, encode

SOURCE = Path(__file__).parents[1] / "prompts.json"
NAME = "prompts.json"


class Prompt(TypedDict):
    """One entry of the prompt menu, with a line on what to look for."""

    label: str
    prompt: str
    chat: bool
    system: str
    look_for: str


def read_prompts() -> list[Prompt]:
    """The example prompts, in the menu's order."""
    prompts: list[Prompt] = json.loads(SOURCE.read_text(encoding="utf-8"))
    return prompts


def prompt_ids(tokenizer: PreTrainedTokenizerFast, prompt: Prompt) -> list[int]:
    """The ids that the model continues: the text itself, or the chat up to the answer."""
    if prompt["chat"]:
        return chat_ids(tokenizer, prompt["prompt"], prompt["system"])
    return encode(tokenizer, prompt["prompt"])
