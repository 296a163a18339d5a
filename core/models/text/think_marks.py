"""Find the marks of a model's thinking in its tokenizer and its chat template."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from ...decoding.reasoning.types import ThinkMarks

# Used by Qwen3, DeepSeek-R1 and the embedded models; Magistral; Sky-T1; Exaone; Seed; others.
KNOWN_MARKS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
)
INSTRUCTION = (
    "Think step by step. When you are done, write a line that begins with 'Final answer:' and "
    "gives the answer as a number."
)
BY_PROMPT = ThinkMarks("", "\nFinal answer:", "prompt", INSTRUCTION)


def think_marks(tokenizer: PreTrainedTokenizerBase) -> ThinkMarks:
    """Return the thinking marks that are special tokens, else those in the chat template.

    Without either, return marks that an instruction in the prompt asks the model to write.
    """
    tokens = set(tokenizer.get_added_vocab()) | set(tokenizer.all_special_tokens)
    for start, end in KNOWN_MARKS:
        if start in tokens and end in tokens:
            return ThinkMarks(start, end, "tokens")
    template = tokenizer.chat_template
    # A tokenizer may have several templates, by name.
    text = "".join(template.values()) if isinstance(template, dict) else template or ""
    for start, end in KNOWN_MARKS:
        if start in text and end in text:
            return ThinkMarks(start, end, "template")
    return BY_PROMPT
