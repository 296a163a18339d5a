"""Every sum that the training text shows is right, and what is not to be learned is not."""

import random
import re

import pytest

from core.evaluation.scoring.verifier import worked_out
from tests.training.reading import holds, learned, reply, sums, whole
from training.corpus import arithmetic, problems
from training.corpus.tokens import END_THINK, THINK

COUNT = 3000


def answer_of(text: str) -> int:
    return int(re.findall(r"\d+", text.rsplit(END_THINK, 1)[-1])[-1])


def split(document: str) -> tuple[str, str, str]:
    """The question, the thinking and what follows it."""
    question, reply = document.split("\n")
    if THINK not in reply:
        return question, "", reply
    thinking, answer = reply.removeprefix(THINK).split(END_THINK)
    return question, thinking, answer


def slips(thinking: str) -> int:
    """Return the number of wrong results in a thinking text without a "Wait" after them."""
    corrected = re.sub(r"\d+ [-+*/] \d+ = \d+\. Wait, ", "", thinking)
    return sum(not holds(*equation) for equation in sums(corrected))


@pytest.mark.parametrize("steps", range(1, 9))
def test_a_chain_stays_within_its_numbers_and_its_expression_has_its_value(steps: int) -> None:
    rng = random.Random(steps)
    for _ in range(300):
        problem = problems.draw_problem(rng, steps)
        assert len(problem.steps) == steps
        assert all(0 <= value <= problems.LARGEST for value in problem.values)
        for ask in (problems.ask_in_symbols, problems.ask_in_words):
            assert worked_out(ask(rng, problem)) == str(problem.answer)


def test_a_plain_question_gets_its_true_answer() -> None:
    rng = random.Random(1)
    kinds = {"full": 0, "cut": 0, "none": 0}
    for _ in range(COUNT):
        document = arithmetic.plain(rng)
        question, thinking, answer = split(whole(document))
        assert not re.search(r"\d", learned(document).split("\n")[0])
        if " has " not in question and not slips(thinking):
            assert str(answer_of(answer)) == worked_out(question)
        assert answer == f"The answer is {answer_of(answer)}."
        if END_THINK in learned(document):
            assert sums(thinking)[-1][3] == answer_of(answer)
        kind = "cut" if learned(document).endswith(f"~{answer}") else "full"
        kinds[kind if THINK in whole(document) else "none"] += 1
    assert 0.55 < kinds["full"] / COUNT < 0.75
    assert 0.15 < kinds["cut"] / COUNT < 0.25
    assert 0.1 < kinds["none"] / COUNT < 0.2


def test_a_wrong_result_that_is_put_right_is_not_learned() -> None:
    rng = random.Random(4)
    mended = 0
    for _ in range(COUNT):
        document = arithmetic.plain(rng)
        for match in re.finditer(r"(\d+ [-+*/] \d+) = (\d+)\. Wait, \1 = (\d+)\.", whole(document)):
            if match[2] != match[3]:
                mended += 1
                assert holds(*sums(match[0])[1])
                assert f"{match[1]} = ~. Wait, {match[1]} = {match[3]}." in learned(document)
    assert 0.01 < mended / COUNT < 0.06


def test_a_question_s_numbers_are_not_learned() -> None:
    rng = random.Random(5)
    for _ in range(COUNT):
        messages = arithmetic.chat(rng)
        assert not any(re.search(r"\d", learned(m.parts)) for m in messages[:-1])


def test_the_system_prompt_decides_about_the_thinking() -> None:
    rng = random.Random(6)
    for _ in range(COUNT):
        messages = arithmetic.chat(rng)
        system = whole(messages[0].parts) if messages[0].role == "system" else ""
        text = reply(messages)
        if system in arithmetic.SHORT_SYSTEMS:
            assert text.isdigit()
        elif system in arithmetic.HASTY_SYSTEMS:
            assert text.startswith("The answer is ")
        else:
            assert text.startswith(THINK)


def test_slips_that_lead_below_zero_are_no_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "_SLIPS", 1.0)
    sums: list[arithmetic.Sum] = [(30, "-", 5), (25, "-", 10), (15, "-", 15)]
    found = [arithmetic._slip(random.Random(seed), sums) for seed in range(200)]
    assert [] in found and any(found)
    assert all(start >= 0 and result >= 0 for done in found for (start, _, _), result in done)
