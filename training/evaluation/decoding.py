"""What the pair shows of decoding: drafts, beams, and how fast the app runs on it."""

import random
import statistics
import time
from pathlib import Path

import torch

from core import Greedy, collect, load_model
from training.corpus import arithmetic, calculator, facts, lists, stories
from training.corpus.document import Message
from training.evaluation.measure import Measure, Subject, percent
from training.evaluation.prompts import Prompt, prompt_ids
from training.generation import chat_ids, encode

DRAFT_LENGTH, BEAMS, BEAM_TOKENS, SPEED_TOKENS = 4, 4, 60, 200
CHATS = {
    "stories": stories.chat,
    "lists": lists.chat,
    "facts": facts.chat,
    "arithmetic": arithmetic.chat,
    "calculator": calculator.chat,
}


def measure_acceptance(subject: Subject) -> Measure:
    """The share of proposed tokens that the target accepts, greedily, by family."""
    shares = {}
    for name, chat in CHATS.items():
        rng = random.Random(-9)
        count = max(2, subject.questions // 4)
        prompts = [_prompt_of(subject, chat(rng)) for _ in range(count)]
        rows = subject.reply(prompts, 160)
        proposed = accepted = 0
        for prompt, row in zip(prompts, rows, strict=True):
            tries, hits = count_accepted(draft_choices(subject, prompt, row), row)
            proposed, accepted = proposed + tries, accepted + hits
        shares[name] = accepted / max(1, proposed)
    mean = statistics.mean(shares.values())
    lower = shares["arithmetic"] < shares["stories"] - 0.05
    words = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
    return Measure(
        f"draft against target, k = {DRAFT_LENGTH}, greedy: tokens accepted",
        "55 to 85 % over the families, clearly lower in arithmetic than in stories",
        f"{percent(mean)}: {words}",
        0.55 <= mean <= 0.85 and lower,
    )


def _prompt_of(subject: Subject, messages: list[Message]) -> list[int]:
    texts = {role: "".join(part.text for part in parts) for role, parts in messages}
    return chat_ids(subject.tokenizer, texts["user"], texts.get("system", ""))


@torch.no_grad()
def draft_choices(subject: Subject, prompt: list[int], row: list[int]) -> list[int]:
    """What the draft would choose at each place of the target's text."""
    assert subject.draft is not None
    ids = torch.tensor([[*prompt, *row[:-1]]])
    logits = subject.draft(input_ids=ids, use_cache=False).logits
    choices: list[int] = logits[0, len(prompt) - 1 :].argmax(-1).tolist()
    return choices


def count_accepted(choices: list[int], row: list[int]) -> tuple[int, int]:
    """Count the tokens proposed and those accepted in rounds of four and one of the target's.

    A proposal is judged only up to the first rejected one, but all of a round were proposed.
    """
    place = proposed = accepted = 0
    while place < len(row):
        length = min(DRAFT_LENGTH, len(row) - place)
        right = 0
        while right < length and choices[place + right] == row[place + right]:
            right += 1
        proposed, accepted = proposed + length, accepted + right
        place += right + 1
    return proposed, accepted


def measure_beams(subject: Subject, prompts: list[Prompt]) -> Measure:
    """The prompts where beam search finds a visibly different, more probable text than greedy."""
    found = []
    for prompt in prompts:
        ids = prompt_ids(subject.tokenizer, prompt)
        greedy, beam = (search(subject, ids, beams) for beams in (1, BEAMS))
        if greedy[0].split() != beam[0].split() and beam[1] > greedy[1] + 0.01:
            found.append(f"{prompt['label']} ({greedy[1]:.2f} to {beam[1]:.2f})")
    return Measure(
        f"beam search ({BEAMS}) above greedy in log-probability, with another text",
        "at least 3 stored prompts",
        f"{len(found)}: {', '.join(found)}",
        len(found) >= 3,
    )


@torch.no_grad()
def search(subject: Subject, ids: list[int], beams: int) -> tuple[str, float]:
    """The best text that a search finds, and its total log-probability in nats."""
    prompt = torch.tensor([ids])
    output = subject.target.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=min(BEAM_TOKENS, subject.longest),
        num_beams=beams,
        do_sample=False,
        length_penalty=0.0 if beams > 1 else None,
    )
    logits = subject.target(input_ids=output[:, :-1], use_cache=False).logits
    logprobs = logits.log_softmax(-1).gather(-1, output[:, 1:, None])[0, :, 0]
    text = subject.tokenizer.decode(output[0, len(ids) :], skip_special_tokens=True)
    return text, float(logprobs[len(ids) - 1 :].sum())


def measure_speed(folder: Path, most: int) -> list[Measure]:
    """The seconds to load the model, and its speed with full traces of at most so many tokens."""
    load_model(folder)  # The first one also starts the process that reads a folder's files.
    began = time.perf_counter()
    model = load_model(folder)
    seconds = time.perf_counter() - began
    tokens = min(SPEED_TOKENS, most)
    config = Greedy(max_new_tokens=tokens, min_new_tokens=tokens)
    speeds = []
    for _ in range(4):
        began = time.perf_counter()
        trace = collect(model, "Once upon a time", config)
        speeds.append(len(trace.token_ids) / (time.perf_counter() - began))
    speed = statistics.median(speeds[1:])
    return [
        Measure("load time", "under 1 s", f"{seconds:.2f} s", seconds < 1),
        Measure(
            "speed with full traces",
            "at least 200 tokens a second",
            f"{speed:.0f} tokens a second with {torch.get_num_threads()} thread(s)",
            speed >= 200,
        ),
    ]


def warm_up(subject: Subject) -> None:
    """Import and start what the first generation needs, so that no measure pays for it."""
    subject.reply([encode(subject.tokenizer, "Once")], 2)
