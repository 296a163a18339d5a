"""A look at what a model in training can do already, in a few seconds."""

import random
import re

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from training.corpus import facts
from training.corpus.arithmetic import SHORT_SYSTEMS, THINKING_SYSTEMS, ask
from training.corpus.problems import draw_problem
from training.generation import chat_ids, continue_all, encode

QUESTIONS = 50


def glance(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> str:
    """Measure a few held-out questions of some kinds and show a text of each."""
    lines = [
        f"{steps} steps, {'thinking' if thinks else 'not thinking'}: "
        f"{arithmetic_accuracy(model, tokenizer, steps, thinks):.2f}"
        for steps, thinks in ((1, True), (3, True), (6, True), (1, False), (3, False))
    ]
    lines.append(f"facts: {fact_accuracy(model, tokenizer):.2f}")
    for prompt in ("Once upon a time", "A list of colors: red,", "What is 4821 * 377?\n"):
        ids = encode(tokenizer, prompt)
        lines.append(prompt + tokenizer.decode(continue_all(model, [ids], 120)[0]))
    return "\n".join(lines)


def arithmetic_accuracy(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, steps: int, thinks: bool
) -> float:
    """The share of held-out chains answered rightly, greedily, in a chat."""
    rng = random.Random(steps)
    problems = [draw_problem(rng, steps, held_out=True) for _ in range(QUESTIONS)]
    system = (THINKING_SYSTEMS if thinks else SHORT_SYSTEMS)[0]
    prompts = [chat_ids(tokenizer, ask(rng, problem), system) for problem in problems]
    texts = tokenizer.batch_decode(continue_all(model, prompts, 140))
    right = [last_number(text) == one.answer for text, one in zip(texts, problems, strict=True)]
    return sum(right) / len(right)


def last_number(text: str) -> int | None:
    """The last whole number of a text."""
    numbers = re.findall(r"\d+", text)
    return int(numbers[-1][:12]) if numbers else None


def fact_accuracy(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> float:
    """The share of held-out questions about facts whose reply holds the answer."""
    asked = random.Random(1).sample(facts.held_out(), QUESTIONS)
    prompts = [chat_ids(tokenizer, question) for question, _ in asked]
    replies = tokenizer.batch_decode(continue_all(model, prompts, 40))
    return sum(
        states(reply, answer) for reply, (_, answer) in zip(replies, asked, strict=True)
    ) / len(asked)


def states(reply: str, answer: str) -> bool:
    """Whether a reply holds an answer as whole words."""
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", reply.lower()) is not None
