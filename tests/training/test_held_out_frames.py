"""No question of the evaluation stands in the training text, but for its names and numbers."""

import random

from tests.depth import cases
from tests.training.reading import whole
from training.corpus import fact_questions, lists, stories, sums, talk
from training.evaluation import overlap

COUNT = cases(1500, 300)


def test_a_frame_hides_numbers_names_and_things() -> None:
    assert overlap.frame("What's Norway's capital?") == "what's # 's capital"
    assert overlap.frame("Tom had 12 apples, Mia seven.") == "# had # apples # #"
    assert overlap.grams("a b c") == {"^a b c$"}
    assert overlap.grams("a b c d e f") == {"a b c d e", "b c d e f"}


def test_a_leak_is_found_whatever_its_numbers_and_names() -> None:
    leaked = "Grandma baked 99 muffins and the children ate 8 of them. How many muffins remain?"
    [(question, _)] = overlap.leaks([leaked, "How many apples are left?"])
    assert question.startswith("Grandma baked 24 muffins")


def test_no_held_out_frame_is_asked_by_a_generator() -> None:
    rng = random.Random(1)
    questions = [sums.make_question(rng)[0] for _ in range(6 * COUNT)]
    questions += [fact_questions.ask(rng)[0] for _ in range(4 * COUNT)]
    questions += [talk.make(rng)[0] for _ in range(4 * COUNT)]
    questions += [whole(lists.chat(rng)[-2].parts) for _ in range(COUNT)]
    questions += [whole(stories.chat(rng)[-2].parts) for _ in range(COUNT // 2)]
    assert not overlap.leaks(questions)
