"""Stories, lists, facts, and any Unicode text."""

import math
import random
import re

import torch
from transformers import PreTrainedTokenizerFast

from training.corpus import facts, lists
from training.corpus.mix import FAMILIES
from training.corpus.story import cast
from training.evaluation.measure import Measure, Subject, percent
from training.generation import chat_ids, encode
from training.glance import states
from training.losses import lay_out, logits_of, next_token_loss
from training.rows import encode as encode_document

STORIES, STORY_TOKENS, UNICODE_TEXTS, LOSS_DOCUMENTS = 50, 420, 2000, 60
LIST_PROMPT = "A list of colors: red,"
NAMES = {*cast.GIRLS, *cast.BOYS}
MOST_NAMES = 2  # the hero and a friend


def measure_stories(subject: Subject) -> list[Measure]:
    """Whether sampled stories have whole sentences, steady names and an end."""
    torch.manual_seed(8)
    prompts = [encode(subject.tokenizer, "Once upon a time")] * min(STORIES, subject.questions)
    rows = subject.reply(prompts, STORY_TOKENS, temperature=0.8)
    ended = [row[-1] == subject.tokenizer.eos_token_id for row in rows]
    texts = subject.tokenizer.batch_decode(rows, skip_special_tokens=True)
    whole = [text[-1:] in tuple('.!?"') for text in texts]
    steady = [has_steady_names(text) for text in texts]
    name = f"stories: {len(rows)} sampled at temperature 0.8"
    return [
        _counted(f"{name}, that end by themselves", ended),
        _counted(f"{name}, in complete sentences", whole),
        _counted(f"{name}, with consistent names", steady),
    ]


def has_steady_names(text: str) -> bool:
    """Whether a story has at most two named characters, each of one kind throughout."""
    names = NAMES & set(re.findall(r"\w+", text))
    kinds = [set(re.findall(rf"\b{name} the (\w+)", text)) & set(cast.ANIMALS) for name in names]
    return 1 <= len(names) <= MOST_NAMES and all(len(kind) <= 1 for kind in kinds)


def _counted(name: str, passed: list[bool]) -> Measure:
    share = sum(passed) / len(passed)
    return Measure(name, "at least 90 %", percent(share), share >= 0.9)


def measure_perplexity(subject: Subject) -> Measure:
    """The perplexity a token on documents of each family from a seed kept from training."""
    words: list[str] = []
    for name, family in FAMILIES.items():
        rng = random.Random(-1 - len(words))
        losses, tokens = 0.0, 0
        for _ in range(min(LOSS_DOCUMENTS, subject.questions)):
            loss, count = _document_loss(
                subject, encode_document(subject.tokenizer, family.plain(rng))
            )
            losses, tokens = losses + loss, tokens + count
        words.append(f"{name} {math.exp(losses / tokens):.2f}")
    return Measure("perplexity on held-out generator seeds", "reported", ", ".join(words), None)


@torch.no_grad()
def _document_loss(subject: Subject, pair: tuple[list[int], list[int]]) -> tuple[float, int]:
    ids, labels = torch.tensor(pair).unsqueeze(1)
    layout = lay_out(ids, subject.tokenizer.eos_token_id, True)
    count = int((labels[:, 1:] >= 0).sum())
    return float(next_token_loss(logits_of(subject.target, ids, layout), labels)) * count, count


def measure_list(subject: Subject) -> Measure:
    """Whether the greedy list of colours holds different colours and ends."""
    [row] = subject.reply([encode(subject.tokenizer, LIST_PROMPT)], 120)
    text = subject.tokenizer.decode(row, skip_special_tokens=True).strip()
    colors = text.removesuffix(".").split(", ")
    different = len({*colors, "red"}) == len(colors) + 1 >= 4
    good = text.endswith(".") and different and set(colors) <= set(lists.KINDS["colors"])
    return Measure(f'"{LIST_PROMPT}" greedy', "colours, no loop", text, good)


def measure_facts(subject: Subject) -> Measure:
    """Facts asked for in phrasings that no training text contains."""
    every = facts.held_out()
    asked = random.Random(4).sample(every, min(len(every), 10 * subject.questions))
    prompts = [chat_ids(subject.tokenizer, question) for question, _ in asked]
    rows = subject.reply(prompts, 40)
    replies = subject.tokenizer.batch_decode(rows, skip_special_tokens=True)
    pairs = zip(replies, asked, strict=True)
    share = sum(states(reply, answer) for reply, (_, answer) in pairs) / len(asked)
    name = f"facts, {len(asked)} held-out phrasings, greedy"
    return Measure(name, "at least 80 %", percent(share), share >= 0.8)


def measure_unicode(tokenizer: PreTrainedTokenizerFast) -> Measure:
    """Whether random texts of all of Unicode come back as they were."""
    rng = random.Random(6)
    texts = [random_text(rng) for _ in range(UNICODE_TEXTS)]
    same = sum(tokenizer.decode(tokenizer(text)["input_ids"]) == text for text in texts)
    return Measure(
        "any Unicode in, the same Unicode out",
        "exact",
        f"{same} of {UNICODE_TEXTS} random texts",
        same == UNICODE_TEXTS,
    )


def random_text(rng: random.Random) -> str:
    """Up to 40 characters, half of them from anywhere in Unicode, surrogates left out."""
    return "".join(
        chr(
            rng.choice(
                (rng.randrange(0x80), rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))
            )
        )
        for _ in range(rng.randrange(40))
    )
