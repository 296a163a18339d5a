"""System prompts that ask for a form of the answer, over the families that it suits."""

import re
from collections.abc import Callable

from training import handwritten
from training.corpus.tokens import END_THINK
from training.evaluation.measure import Measure, Subject, percent
from training.evaluation.written import last_number, replies, said, sentences

GOAL, MOST, MOST_STORY = 0.95, 200, 300
_EVERY = {"sums": 5, "facts": 3, "lists": 1, "stories": 2, "talk": 7}  # one question in so many


def measure_forms(subject: Subject) -> list[Measure]:
    """For every form the share of replies that have it, in all and by family."""
    found = []
    for way in dict.fromkeys(row[0] for row in handwritten.read("systems")):
        systems = [text for name, text in handwritten.read("systems") if name == way]
        shares = {}
        for family, has_form in _FORMS[way].items():
            questions = questions_of(family, way)[: 2 * subject.questions]
            most = MOST_STORY if family == "stories" else MOST
            texts = [text for one in systems for text in replies(subject, questions, most, one)]
            shares[family] = sum(map(has_form, texts)) / len(texts)
        words = ", ".join(f"{family} {percent(share)}" for family, share in shares.items())
        title = f"system prompt: {way}, replies that have this form"
        goal = f"at least {percent(GOAL)} in every family"
        found.append(Measure(title, goal, words, min(shares.values()) >= GOAL))
    return found


def questions_of(family: str, way: str) -> list[str]:
    """Some of the questions written by hand; for one word only facts that have one."""
    rows = handwritten.read(family)
    if family == "facts" and way == "one word":
        rows = [row for row in rows if " " not in row[2]]
    if family == "talk":
        rows = [row for row in rows if row[0] not in ("japanese", "korean")]
    if family == "lists" and way == "one word":
        return [row[0] for row in rows if not _COUNTED.search(row[0])]
    column = 0 if family in ("lists", "stories") else 1
    return [row[column] for row in rows[:: _EVERY[family]]]


def is_one_word(reply: str) -> bool:
    """Whether a reply has one word or number and nothing else."""
    return len(said(reply).split()) == 1


def is_one_sentence(reply: str) -> bool:
    """Whether what a reply says is one sentence, of more than one word, that ends."""
    text = said(reply)
    return len(sentences(text)) == 1 and " " in text and text.endswith((".", "!", "?", '"'))


def is_number(reply: str) -> bool:
    """Whether a reply says a number and nothing else."""
    text = said(reply)
    return last_number(text) is not None and re.fullmatch(r"-?[\d.]+", text) is not None


def is_bare(reply: str) -> bool:
    """Whether a reply has the answer's words alone, in no sentence."""
    text = said(reply)
    return bool(text) and len(text.split()) <= 5 and not re.search(r" (is|are|has|was)\b", text)


def is_bare_list(reply: str) -> bool:
    """Whether a reply has the items alone, in no sentence and after no heading."""
    text = said(reply)
    return bool(text) and ":" not in text and not re.search(r" (is|are)\b", text)


def is_lines(reply: str) -> bool:
    """Whether a reply has one item on each of its lines, and at least three."""
    lines = said(reply).splitlines()
    return len(lines) >= 3 and all(line.strip() and "," not in line for line in lines)


def is_capital(reply: str) -> bool:
    """Whether what a reply says has letters, or a number, and no small letter."""
    text = said(reply)
    return bool(text) and text == text.upper()


def is_stepwise(reply: str) -> bool:
    """Whether a reply works out at least one sum before it answers."""
    return END_THINK in reply and " = " in reply.split(END_THINK)[0]


_COUNTED = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|planets|days|months)\b")
_FORMS: dict[str, dict[str, Callable[[str], bool]]] = {
    "one word": {"sums": is_one_word, "facts": is_one_word, "lists": is_one_word},
    "one sentence": dict.fromkeys(("sums", "facts", "lists", "stories", "talk"), is_one_sentence),
    "only the answer": {"sums": is_number, "facts": is_bare, "lists": is_bare_list},
    "lines": {"lists": is_lines},
    "capitals": dict.fromkeys(("sums", "facts", "lists", "stories", "talk"), is_capital),
    "steps": {"sums": is_stepwise},
}
