"""The questions written by hand: sums, facts and talk in words that no generator knows."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from training import handwritten
from training.corpus.expressions import work_out
from training.corpus.tokens import END_OF_TEXT, END_OF_TURN, END_THINK, THINK
from training.evaluation.measure import Measure, Subject, percent
from training.generation import chat_ids
from training.glance import states

MOST_ANSWER, MOST_THINKING = 60, 200
OUTSIDE_GOAL = 0.9
_NUMBER = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?")
_KANA, _HANGUL = re.compile(r"[\u3041-\u30ff]"), re.compile(r"[\uac00-\ud7a3]")


class Answered(NamedTuple):
    """One question with the reply to it, and whether that is right."""

    kind: str
    question: str
    reply: str
    right: bool


def replies(subject: Subject, questions: list[str], most: int, system: str = "") -> list[str]:
    """The greedy replies to questions, with their thinking, without the marks of an end."""
    prompts = [chat_ids(subject.tokenizer, question, system) for question in questions]
    rows = subject.reply(prompts, most)
    ends = re.compile(rf"({re.escape(END_OF_TURN)}|{re.escape(END_OF_TEXT)})+$")
    return [ends.sub("", text) for text in subject.tokenizer.batch_decode(rows)]


def said(reply: str) -> str:
    """What a reply says after its thinking; nothing if the thinking never ends."""
    return (
        reply.rsplit(END_THINK, 1)[-1].strip() if END_THINK in reply or THINK not in reply else ""
    )


def last_number(text: str) -> Decimal | None:
    """The last number of a text, with its sign and its decimals."""
    found = _NUMBER.findall(text)
    return Decimal(found[-1][:20]) if found else None


def answer_of(expression: str) -> Decimal:
    """The value of a sum, by the rules."""
    steps = work_out(expression)
    if not steps:
        raise ValueError(f"{expression!r} is beyond the model's sums.")
    return steps[-1].result


def ask_sums(subject: Subject) -> list[Answered]:
    """Ask every sum; right is the number at the end of the reply."""
    rows = _rows(subject, "sums")
    texts = replies(subject, [row[1] for row in rows], MOST_THINKING)
    return [
        Answered(kind, question, text, last_number(said(text)) == answer_of(expression))
        for (kind, question, expression), text in zip(rows, texts, strict=True)
    ]


def ask_facts(subject: Subject) -> list[Answered]:
    """Ask every fact; right is a reply that states it, or begins or ends with yes or no."""
    rows = _rows(subject, "facts")
    texts = replies(subject, [row[1] for row in rows], MOST_ANSWER)
    return [
        Answered(kind, question, text, _is_fact(kind, said(text), answer.split("/")))
        for (kind, question, answer), text in zip(rows, texts, strict=True)
    ]


def _is_fact(kind: str, reply: str, answers: list[str]) -> bool:
    if kind == "yes-no":
        words = re.findall(r"\w+", reply.lower())
        return {"yes", "no"}.intersection(words[:1] + words[-1:]) == {answers[0]}
    return any(states(reply, answer) for answer in answers)


def ask_talk(subject: Subject) -> list[Answered]:
    """Say everything to the model that is no task; right is the one modest sentence."""
    rows = _rows(subject, "talk")
    texts = replies(subject, [row[1] for row in rows], 2 * MOST_ANSWER)
    return [
        Answered(kind, question, text, _CHECKS[kind](said(text)))
        for (kind, question), text in zip(rows, texts, strict=True)
    ]


def _names_abilities(reply: str) -> bool:
    """Whether a reply is one sentence (after a greeting) that says what the model can do."""
    body = re.sub(r"^(hello|hi)[!,.] ", "", reply.lower())
    return all(word in body for word in ("stories", "sums")) and len(sentences(body)) == 1


def sentences(text: str) -> list[str]:
    """The sentences of a text; what is quoted counts as a part of the sentence around it."""
    bare = re.sub(r'"[^"]*"', "x", text).strip()
    bare = re.sub(r"\b([A-Z])\. ", r"\1 ", bare)  # initials
    return [part for part in re.split(r"(?<=[.!?])\s+", bare) if re.search(r"\w", part)]


_CHECKS: dict[str, Callable[[str], bool]] = {
    "greeting": _names_abilities,
    "identity": lambda reply: "language model" in reply and _names_abilities(reply),
    "ability": _names_abilities,
    "thanks": lambda reply: "welcome" in reply.lower(),
    "outside": lambda reply: "only" in reply and _names_abilities(reply),
    "japanese": lambda reply: bool(_KANA.search(reply)) and reply.endswith("。"),
    "korean": lambda reply: bool(_HANGUL.search(reply)) and reply.endswith("."),
}


def measure_written(subject: Subject) -> Iterator[tuple[Measure, list[Answered]]]:
    """Yield a row for the sums, the facts, the talk and what lies outside, with the replies."""
    for name, ask in (("sums", ask_sums), ("facts", ask_facts)):
        answered = ask(subject)
        title = f"{name} written by hand in held-out frames ({len(answered)}), greedy"
        yield Measure(title, "reported", by_kind(answered), None), answered
    talk = ask_talk(subject)
    outside = [one for one in talk if one.kind == "outside"]
    chat = [one for one in talk if one.kind != "outside"]
    for title, chosen in (
        ("talk about itself, and greetings, in held-out words", chat),
        ("outside its world: one modest sentence, in held-out words", outside),
    ):
        share = _share(chosen)
        name, goal = f"{title} ({len(chosen)})", f"at least {percent(OUTSIDE_GOAL)}"
        yield Measure(name, goal, by_kind(chosen), share >= OUTSIDE_GOAL), chosen


def by_kind(answered: list[Answered]) -> str:
    """The share of right answers, in all and by kind."""
    kinds = dict.fromkeys(one.kind for one in answered)
    parts = [
        f"{kind} {sum(one.right for one in group)} of {len(group)}"
        for kind in kinds
        for group in [[one for one in answered if one.kind == kind]]
    ]
    return f"{percent(_share(answered))}: {', '.join(parts)}"


def _share(answered: list[Answered]) -> float:
    return sum(one.right for one in answered) / max(1, len(answered))


def _rows(subject: Subject, name: str) -> list[list[str]]:
    return handwritten.read(name)[: 2 * subject.questions]
