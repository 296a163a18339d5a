"""System prompts that ask for a form of the answer, each in several wordings."""

import random

from training.corpus.document import Message, Part

WORDINGS = {
    "word": """Answer with one word.
Answer with one word.
Answer in one word.
Use only one word.
Answer with a single word.
One word only.
Give a one-word answer.
Say only one word.
Your answer is one word long.
Only one word, please.""",
    "sentence": """Answer in one sentence.
Answer in one sentence.
Answer with a sentence.
Answer with one full sentence.
Use a single sentence.
Use exactly one sentence.
Your answer is one sentence.
Keep your reply to one sentence.
Reply with a complete sentence.""",
    "answer": """Give only the answer.
Give only the answer.
Only the answer, please.
Answer only, no other words.
Give just the answer.
Nothing but the answer.
Say the answer and nothing more.
Reply with the answer alone.
No explanations, only the answer.""",
    "lines": """Write one item on each line.
Answer with one item on each line.
Put each item on a new line.
One item per line.
List every item on its own line.
Start a new line for every item.
Use a new line for each thing.""",
    "capitals": """Answer in capital letters.
Answer in capital letters.
Use only capital letters.
Write in capitals.
Use capital letters only.
ANSWER IN CAPITALS.
Write everything in capital letters.
Reply in uppercase letters.
All of your letters are large.""",
    "steps": """Think step by step.
Think before you answer.
Show your steps, then answer.
Solve the problem step by step.
Go step by step.
Work it out one step after the other.
Take it one step at a time.
Reason step by step.
Explain your steps.""",
    "none": """You are a helpful assistant.
You are a helpful assistant.
You are a friendly assistant.
You are a small language model.
Be kind.
Help the user.
You answer questions.""",
}


def system(rng: random.Random, way: str) -> str:
    """A wording that asks for an answer of this form."""
    return rng.choice(WORDINGS[way].splitlines())


def order(rng: random.Random, way: str) -> Message:
    """A system prompt that asks for an answer of this form."""
    return Message("system", (Part(system(rng, way)),))


def capitals(text: str) -> str:
    """A reply in capital letters, the marks in it as they are."""
    return text.upper()


def silent(text: str) -> tuple[Part, ...]:
    """A question that bears no loss: nobody needs to learn how others type."""
    return (Part(text, learned=False),)
