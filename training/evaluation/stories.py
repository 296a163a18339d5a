"""Stories: what was asked for is in them, their things stay the same, and they differ."""

import random
import re
from collections import Counter
from functools import cache

import torch

from training import handwritten
from training.corpus.stories import PLOTS, make_story
from training.corpus.story import cast
from training.evaluation.measure import Measure, Subject, percent
from training.evaluation.written import replies
from training.generation import chat_ids

SAMPLES, TOKENS, GOAL = 50, 420, 0.9
TOLD = 40  # stories of each plot, by which it is known
_COLORS = "|".join(cast.POOLS["color"])
_COLORED = re.compile(rf"\b({_COLORS}) ([a-z]+)")
_NAMES = re.compile(rf"\b(?:{'|'.join((*cast.GIRLS, *cast.BOYS))})\b")
_KINDS = re.compile(rf"\b(?:{'|'.join((*cast.ANIMALS, 'girl', 'boy'))})\b")


def measure_requests(subject: Subject) -> Measure:
    """The share of requests written by hand whose people and things are all in the story."""
    rows = handwritten.read("stories")[: 2 * subject.questions]
    texts = replies(subject, [row[0] for row in rows], TOKENS)
    found = [
        [has_word(text, word) for word in row[1].split(", ")]
        for row, text in zip(rows, texts, strict=True)
    ]
    whole = sum(map(all, found))
    parts = [one for group in found for one in group]
    words = f"{percent(whole / len(found))} whole, {percent(sum(parts) / len(parts))} of the words"
    name = f"stories asked for in held-out words ({len(rows)}): what was asked for is in them"
    return Measure(name, "reported", words, None)


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word, in small or large letters, perhaps in the plural."""
    return re.search(rf"\b{word}(s|es)?\b", text, re.IGNORECASE) is not None


def measure_variety(subject: Subject) -> list[Measure]:
    """Sampled stories: whether things keep their colors, and how many openings there are."""
    torch.manual_seed(11)
    prompt = chat_ids(subject.tokenizer, "Tell me a story.")
    rows = subject.reply([prompt] * min(SAMPLES, subject.questions), TOKENS, temperature=0.8)
    texts = subject.tokenizer.batch_decode(rows, skip_special_tokens=True)
    steady = sum(map(has_steady_things, texts)) / len(texts)
    openings, endings = ({mold(text, at) for text in texts} for at in (0, -1))
    plots = {plot_of(text) for text in texts}
    name = f"stories: {len(texts)} asked for at temperature 0.8"
    return [
        Measure(f"{name}, whose things keep their colors", "at least 90 %", percent(steady),
                steady >= GOAL),
        Measure(f"{name}, different first sentences, last sentences and plots", "reported",
                f"{len(openings)}, {len(endings)} and {len(plots)} (of {len(PLOTS)})", None),
    ]  # fmt: skip


def has_steady_things(text: str) -> bool:
    """Whether no thing has two colors."""
    colors: dict[str, set[str]] = {}
    for color, thing in _COLORED.findall(text):
        colors.setdefault(thing, set()).add(color)
    return all(len(found) == 1 for found in colors.values())


def mold(text: str, at: int) -> str:
    """One sentence of a story without its names and kinds of animals."""
    sentences = re.split(r"(?<=[.!?]) ", text.strip())
    return _KINDS.sub("kind", _NAMES.sub("Name", sentences[at]))


def plot_of(text: str) -> str:
    """The name of the plot that has most of a story's rows of three words."""
    rows = _rows_of_words(text)
    return max(_plots(), key=lambda name: len(rows & _plots()[name]))


@cache
def _plots() -> dict[str, set[str]]:
    """For each plot the rows of three words that it has and at most one other."""
    told = {}
    for plot in PLOTS:
        rng = random.Random(plot.name)
        texts = [make_story(rng, plot).text for _ in range(TOLD)]
        told[plot.name] = set().union(*map(_rows_of_words, texts))
    common = [row for rows in told.values() for row in rows]
    counts = Counter(common)
    return {name: {row for row in rows if counts[row] <= 2} for name, rows in told.items()}


def _rows_of_words(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {" ".join(words[at : at + 3]) for at in range(len(words) - 2)}
