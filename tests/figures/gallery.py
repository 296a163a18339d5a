"""Every figure, of the stored examples and of runs that are hard to lay out, on any paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import plotly.graph_objects as go

from core import figures
from core.decoding.beam.compare import Rival
from core.decoding.by_engine.speculation import ServerRound, ServerSpeculation
from core.decoding.comparison.measures import Divergence, recorded_measures
from core.decoding.constraints.value import constraint_in
from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.diffusion.types import DiffusionBudget, ForwardsPoint, TogetherToken
from core.decoding.lab.types import LabExample
from core.decoding.many.types import ManyRuns
from core.decoding.reading.types import (
    FollowedWord,
    ModelDivergence,
    PinnedToken,
    TextToken,
    TokenDivergence,
    WordSpelling,
    recorded_pins,
    text_tokens,
)
from core.decoding.record.compared import Compared
from core.decoding.record.steps import MarkedToken, Second
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import WATERMARKS, Shaping
from core.decoding.speculative.acceptance import acceptance_table
from core.evaluation.example import load_example
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.types import Evaluation
from core.evaluation.votes.best_of import Sample, Sampled
from core.figures.compare.lines import MEASURES
from core.figures.diffusion.budget import ORDERS
from core.figures.read.lines import TokenLine
from core.traces.lab import load_lab
from core.traces.many_file import read_many, read_runs
from tests.figures.beams import make_search
from tests.figures.canvases import hostile_canvas, noise_canvas, remasked_canvas
from tests.figures.forks import make_fork, make_points, make_tree
from tests.figures.insides import make_attention, make_calls, make_forward, make_lens
from tests.figures.labs import make_lab
from tests.figures.manys import make_many
from tests.figures.specs import (
    COUNTED,
    SWEEP,
    exits_of,
    make_comparison,
    make_spec,
    translated,
)
from tests.figures.traces import make_trace

Draw: TypeAlias = Callable[..., go.Figure]
Entry: TypeAlias = tuple[str, str, tuple[object, ...], dict[str, object]]
TRACES = Path(__file__).parents[2] / "assets" / "traces"
RIVALS = (
    Rival("Greedy", "a", 4, -8.0, -2.0, 3, 3),
    Rival("Beam search", "b", 5, -7.5, -1.5, 4, 16),
    Rival("Best of 8 samples of the model", "c", 6, -112.0, -2.0, 1040, 1040),
)


@cache
def entries() -> tuple[Entry, ...]:
    """A name, the figure's name, and its arguments."""
    rooms = (
        *(_decode, _compare, _beam, _lab, _many, _speculative, _diffusion, _reasoning, _evaluate),
        *(_inside, _read, _home, _classroom),
    )
    return tuple(entry for room in rooms for entry in room())


def draw(entry: Entry, **look: object) -> go.Figure:
    """The figure of an entry in a `theme` on a `paper`."""
    _, name, arguments, options = entry
    return getattr(figures, name)(*arguments, **options, **look)


def _decode() -> Iterator[Entry]:
    shaping = Shaping(temperature=1.8, top_k=40, top_p=0.9)
    hostile = make_trace(24, hostile=True, shaping=shaping, prompt_tokens=13)
    gumbel = make_trace(4, shaping=shaping, draw="gumbel")
    for name, trace in (("", Trace.load(TRACES / "decode.json")), ("hostile ", hostile)):
        for figure in ("probability_heatmap", "prompt_reading", "uncertainty"):
            yield f"{name}{figure}", figure, (trace,), {"selected": 3}
        for at in (0, 5):
            for figure in ("candidate_bars", "softmax_row", "step_stages"):
                yield f"{name}{figure} {at}", figure, (trace.token_steps[at], trace), {}
        yield f"{name}run_tree", "run_tree", (make_tree(trace),), {"selected": 1}
        yield f"{name}fork_points", "fork_points", (trace, make_points(trace)), {"selected": 3}
        runs = [("cache on", trace), ("cache off, and a long name", trace)]
        yield f"{name}timing", "timing", (runs,), {"others": [[trace, trace]] * 2}
    yield "hostile final heatmap", "probability_heatmap", (hostile,), {"value": "final", "rows": 4}
    yield "gumbel stages", "step_stages", (gumbel.token_steps[1], gumbel), {}
    for name, own in (("mu", Shaping(mirostat=2)), ("average", Shaping(adaptive_target=0.3))):
        run = make_trace(24, hostile=name == "mu", shaping=own)
        yield f"state {name}", "sampler_state", (run,), {"selected": 3}
    for name, kind in (("", "regex=( house| very| in){8}"), ("hostile ", r"regex=[^w]{40}")):
        bound = Shaping(constraint=constraint_in(kind))
        trace = make_trace(8, shaping=bound, hostile=bool(name))
        options = {"selected": 3, "free": make_trace(8)}
        yield f"{name}constraint_masses", "constraint_masses", (trace,), options
        search = make_search(3, 8, shaping=bound, hostile=bool(name))
        node = {"node": (2, 1), "selected": 2, "free": make_search(3, 8)}
        yield f"{name}constraint of a beam", "constraint_masses", (search,), node
        settings = {"constraint": bound.constraint, "drafter": "prompt_lookup"}
        drafted = make_spec(16, hostile=bool(name), **settings)
        yield f"{name}constraint of drafts", "constraint_masses", (drafted,), {"selected": 3}
        for at in (at for at, step in enumerate(drafted.rounds) if step.drafted):
            yield f"{name}constrained draft {at}", "spec_verification", (drafted, at, 0), {}
    for name, shaping in (
        ("green list", Shaping(watermark_bias=2.0)),
        ("SynthID", Shaping(synthid_depth=4, synthid_ngram=2)),
    ):
        marked = _marked(shaping)
        yield f"{name} watermark", "watermark", (marked,), {"selected": 3}
        yield f"{name} edited", "watermark", (marked, marked), {}
    guided = _guided()
    yield "hostile second_forward", "second_forward", (guided.token_steps[2], guided), {}
    yield "hostile dola_layers", "dola_layers", (_layered(guided),), {"selected": 2}
    contrast = _contrast()
    yield "contrast_bars", "contrast_bars", (contrast.token_steps[0], contrast), {}
    yield "empty", "probability_heatmap", (replace(gumbel, steps=(), token_ids=(), text=""),), {}


def _marked(shaping: Shaping) -> Trace:
    """Return a run whose steps hold a watermark's numbers."""
    made = make_trace(24, hostile=True)
    (name,) = shaping.active(WATERMARKS)
    steps = [
        replace(
            step,
            stages=(
                *step.stages[:-1],
                step.stages[-1]._replace(
                    name=name, mark=MarkedToken(float(step.index % 3 > 0), 0.3, 0.6)
                ),
                step.stages[-1],
            ),
        )
        for step in made.token_steps
    ]
    config = replace(made.config, shaping=shaping)
    return replace(made, steps=(*made.steps[:-24], *steps), config=config)


def _guided() -> Trace:
    """Return a run whose steps hold a second forward's numbers."""
    made = make_trace(4, hostile=True)
    steps = [
        replace(
            step,
            stages=(
                step.stages[0],
                step.stages[0]._replace(
                    name="guidance_scale", second=Second(tuple(reversed(step.stages[0].probs)))
                ),
                *step.stages[1:],
            ),
        )
        for step in made.token_steps
    ]
    config = replace(made.config, shaping=Shaping(guidance_scale=1.5))
    return replace(made, steps=(*made.steps[:-4], *steps), config=config)


def _layered(guided: Trace) -> Trace:
    """Return a guided run as one by DoLa."""
    steps = [
        replace(
            step,
            stages=tuple(
                stage._replace(name="dola_layers", second=stage.second._replace(layer=step.index))
                if stage.second
                else stage
                for stage in step.stages
            ),
        )
        for step in guided.token_steps
    ]
    config = replace(guided.config, shaping=Shaping(dola_layers="high"))
    return replace(guided, steps=(*guided.steps[:-4], *steps), config=config)


def _contrast() -> Trace:
    made = make_trace(1, "greedy")
    step = made.token_steps[0]
    compared = (
        Compared(step.token_id, step.chosen.text, 0.5, 0.25, 0.05),
        Compared(511, "an unusually long token", 0.25, -0.5, 0.4),
        Compared(510, " x", 0.0, 1.0, -0.6),
    )
    steps = (*made.steps[:-1], replace(step, compared=compared))
    return replace(made, steps=steps, config=ContrastiveSearch(max_new_tokens=1))


def _compare() -> Iterator[Entry]:
    stored = [Trace.load(TRACES / f"{name}.json") for name in ("decode", "compare")]
    hostile = make_trace(24, hostile=True)
    infinite = recorded_measures(*stored, "final")
    step = infinite.steps[2]._replace(divergence=Divergence(math.inf, 0.2, 0.5))
    infinite = infinite._replace(steps=(*infinite.steps[:2], step, *infinite.steps[3:]))
    for measure in MEASURES:
        for name, pair in (("", stored), ("hostile ", (hostile, make_fork(hostile, 5)))):
            found = (*pair, recorded_measures(*pair))
            yield f"{name}{measure} of two runs", "pair_lines", found, {"measure": measure}
    yield "infinite divergence", "pair_lines", (*stored, infinite), {"measure": "kl"}


def _beam() -> Iterator[Entry]:
    trace, wide = Trace.load(TRACES / "beam.json"), make_search(16, 40)
    hostile = make_search(4, 12, hostile=True)
    grouped = make_search(4, 12, num_beam_groups=2, diversity_penalty=0.5)
    yield "beam_tree", "beam_tree", (trace,), {"selected": (4, 1)}
    yield "beam_tree 16 x 40", "beam_tree", (wide,), {"span": 40, "pruned": False}
    yield "beam_tree 16 x 40 pruned", "beam_tree", (wide,), {}
    yield "beam_tree scores", "beam_tree", (trace,), {"scores": True}
    yield "beam_tree hostile scores", "beam_tree", (hostile,), {"scores": True, "pruned": False}
    few = {"paths": 3, "collapse": True, "pruned": False, "span": 40}
    yield "beam_tree 3 paths", "beam_tree", (trace,), few
    yield "beam_tree 16 x 40 3 paths", "beam_tree", (wide,), few
    yield "beam_tree 16 x 40 4 beams", "beam_tree", (wide,), {"beams": 4, "span": 40}
    yield "beam_tree hostile", "beam_tree", (hostile,), {}
    yield "beam_tree grouped", "beam_tree", (grouped,), {}
    yield "beam_step", "beam_step", (trace, 4), {"selected": 1}
    yield "beam_step hostile", "beam_step", (hostile, 4), {"selected": 1}
    yield "beam_rivals", "beam_rivals", (RIVALS, trace), {}
    three = Trace.load(TRACES / "three-words.json")
    yield "beam_by_hand", "beam_by_hand", (three,), {}
    yield "beam_by_hand hostile", "beam_by_hand", (make_search(2, 2, hostile=True),), {}


def _lab() -> Iterator[Entry]:
    hostile = make_lab(hostile=True, draw="gumbel")
    for name, lab in (("", load_lab(TRACES / "lab.json")), ("hostile ", hostile)):
        yield from _of_lab(name, lab)


def _of_lab(name: str, lab: LabExample) -> Iterator[Entry]:
    step = (lab.step,)
    yield f"{name}lab_stages", "lab_stages", step, {}
    yield f"{name}lab_draw", "lab_draw", step, {}
    yield f"{name}boundaries", "lab_decision_boundaries", (*step, lab.flips), {}
    yield f"{name}lab_cuts", "lab_cuts", (*step, lab.cuts), {}
    yield f"{name}lab_rolls", "lab_rolls", (*step, lab.rolls), {}
    yield f"{name}lab_sweep", "lab_sweep", (*step, lab.sweep), {}
    yield f"{name}lab_temperatures", "lab_temperatures", (*step, lab.sweep), {}
    yield f"{name}lab_tree", "lab_tree", (lab.continuations,), {}
    yield f"{name}lab_tree whole", "lab_tree", (lab.continuations,), {"fold": False}


def _many() -> Iterator[Entry]:
    for name, runs in (
        ("again", read_many(TRACES / "many-again.jsonl")),
        ("grid", read_many(TRACES / "many-grid.jsonl")),
        ("hostile", make_many(hostile=True)),
        ("ties", make_many()),
    ):
        yield f"many_tree of {name}", "many_tree", (runs,), {"selected": 1}
        yield f"many_forks of {name}", "many_forks", (runs,), {}
        yield f"many_agreement of {name}", "many_agreement", (runs,), {}
        for measure in ("surprisal", "distinct", "parts"):
            looks = {"measure": measure, "selected": 1}
            yield f"many_matrix of {name}, {measure}", "many_matrix", (runs,), looks


def _home() -> Iterator[Entry]:
    stored = read_runs(TRACES / "home.jsonl")
    hostile = (make_trace(14, "greedy", hostile=True), make_search(4, 12, hostile=True))
    prompt = hostile[0].prompt_ids
    mixed = tuple(replace(trace, prompt_ids=prompt) for trace in hostile)
    for name, runs in (("stored", stored), ("hostile", ManyRuns(mixed))):
        yield f"methods_tree of {name} runs", "methods_tree", (runs,), {"selected": 1}


def _speculative() -> Iterator[Entry]:
    stored, hostile = Trace.load(TRACES / "speculative.json"), make_spec(hostile=True)
    for name, trace in (("", stored), ("hostile ", hostile)):
        yield f"{name}spec_timeline", "spec_timeline", (trace,), {"selected": (0, 0)}
        for at, place in ((0, 0), (1, 1)):
            yield f"{name}trial {at} {place}", "spec_verification", (trace, at, place), {}
        yield f"{name}spec_feed", "spec_feed", (trace, 1), {}
        yield f"{name}spec_positions", "spec_positions", (trace,), {}
        yield f"{name}spec_calibration", "spec_calibration", (trace,), {}
        yield f"{name}spec_classes", "spec_classes", (trace,), {}
        yield f"{name}spec_time", "spec_time", (trace,), {}
    for rounds, looks in ((48, {"first": 40}), (120, {"first": 80, "selected": (100, 0)})):
        yield f"{rounds} rounds", "spec_timeline", (long_rounds(rounds),), looks
    for name, trace in (("", tree_rounds("3,2,1")), ("wide ", tree_rounds("6,3,1,1"))):
        yield f"{name}spec_tree", "spec_tree", (trace, 1), {}
        yield f"{name}spec_mask", "spec_mask", (trace, 1), {}
        yield f"{name}tree fed", "spec_feed", (trace, 1), {}
        yield f"timeline of a {name}tree", "spec_timeline", (trace,), {}
        for place in (0, 2, -1):
            yield f"trial in a {name}tree {place}", "spec_verification", (trace, 1, place), {}
    windows = {"": {}, "hostile ": {"hostile": True}, "wide ": {"lookahead_window": 20}}
    for name, settings in windows.items():
        trace = make_spec(40, drafter="lookahead", draft_length=4, **settings)
        for at in (0, 6):
            yield f"{name}window of round {at}", "spec_window", (trace, at), {}
    deep = long_rounds(20, draft_length=14)
    yield "long drafts", "spec_timeline", (deep,), {}
    yield "long drafts fed", "spec_feed", (deep, 3), {}
    yield "compared times", "spec_time", (stored, make_comparison(0.02, 0.03)), {}
    yield "spec_sweep", "spec_sweep", (SWEEP, stored), {}
    yield "spec_acceptance", "spec_acceptance", (SWEEP, stored), {}
    for name, trace in (("", stored), ("hostile ", hostile)):
        yield f"{name}spec_exits", "spec_exits", (exits_of(trace), trace), {}
        yield f"{name}spec_translation", "spec_translation", (translated(trace), 1), {}
    unknown = SWEEP._replace(alpha=None)
    yield "spec_acceptance without alpha", "spec_acceptance", (unknown, stored), {}
    rounds = tuple(ServerRound(4, at % 5) for at in range(12))
    speculation = ServerSpeculation(rounds, 12, 48, 23, (9, 7, 4, 3), 35)
    for name, variant in (("rounds", speculation), ("positions", speculation._replace(rounds=()))):
        yield f"server {name}", "server_speculation", (variant, "a server · engine · seed 0"), {}
    yield "spec_outcomes", "spec_outcomes", (COUNTED, stored), {}
    table = acceptance_table([0.6, 0.3, 0.1], [0.2, 0.5, 0.3])
    yield "enumeration", "spec_enumeration", (table, ("A", "B", "C"), "speculative"), {}


@cache
def tree_rounds(widths: str) -> Trace:
    """A speculative run that drafts trees of these widths."""
    return make_spec(24, tree_widths=widths)


@cache
def long_rounds(count: int, **settings: object) -> Trace:
    """A speculative run of so many rounds."""
    runs = (make_spec(400, **{"seed": seed, **settings}) for seed in range(60))
    run = next(run for run in runs if len(run.rounds) >= count)
    rounds = run.rounds[:count]
    ids, text = (
        (id for step in rounds for id in step.token_ids),
        "".join(step.text for step in rounds),
    )
    return replace(run, steps=(run.prompt_step, *rounds), token_ids=tuple(ids), text=text)


def _diffusion() -> Iterator[Entry]:
    stored = Trace.load(TRACES / "diffusion.json")
    runs = {
        "": stored,
        "hostile ": hostile_canvas(stored),
        "remasked ": remasked_canvas(),
        "noise ": noise_canvas(),
    }
    for name, trace in runs.items():
        yield f"{name}canvas_fill", "canvas_fill", (trace,), {"selected": 3}
        yield f"{name}fill_order", "fill_order", (trace,), {"selected": 3}
        yield f"{name}fill_choice", "fill_choice", (trace, 3), {}
        yield f"{name}canvas_position", "canvas_position", (trace, 3), {}
        tokens = tuple(
            TogetherToken(at, one.position, one.token_id, one.text, one.prob, 0.9 * one.prob)
            for at, step in enumerate(canvas_steps(trace))
            for one in step.open
            if one.filled
        )
        yield f"{name}filled_together", "filled_together", (tokens, trace), {}
    points = tuple(
        ForwardsPoint(order, a_step, 0.0, 32 / a_step, 60 - 3 * at - a_step // 2, 60)
        for at, order in enumerate(ORDERS)
        for a_step in (1, 4, 16)
    )
    budget = DiffusionBudget("embedded:diffusion", "", "60 sums of two numbers", 9.0, points)
    yield "diffusion_budget", "diffusion_budget", (budget,), {}


def _reasoning() -> Iterator[Entry]:
    example = load_example(TRACES / "reasoning.json")
    yield "reason_accuracy", "reason_accuracy", (example.sweep,), {"marked": 32}
    for name in ("reason_outcomes", "reason_spent", "reason_difficulty"):
        yield name, name, (example.sweep,), {}
    yield "cut accuracy", "reason_accuracy", (example.cut,), {}
    yield "reason_rivals", "reason_rivals", (example.rivalry,), {}
    yield "reason_stops", "reason_stops", (example.strip,), {"caption": "embedded:target"}


def _read() -> Iterator[Entry]:
    hostile = make_trace(24, "greedy", hostile=True, prompt_tokens=13)
    said = {"caption": "embedded:target · float32"}
    for name, trace in (("", Trace.load(TRACES / "decode.json")), ("hostile ", hostile)):
        yield f"{name}reading_favourites", "reading_favourites", (trace,), {"selected": 3}
        tokens = tuple(text_tokens(trace))
        lines = [TokenLine("The text", tokens), TokenLine("<b>greedy</b>", tokens[:20])]
        yield f"{name}surprisal_lines", "surprisal_lines", (lines, 12), said
        of = {**said, "quantity": "probability"}
        yield f"{name}surprisal_lines of probability", "surprisal_lines", (lines, 12), of
        ids = [c.token_id for c in trace.token_steps[3].candidates[:5]]
        for what, pins in (("", recorded_pins(trace, ids)), (" all", _known_pins(trace, ids))):
            yield f"{name}pinned_lines{what}", "pinned_lines", (pins, trace), {"selected": 3}
        yield f"{name}word_line", "word_line", (_word(trace), trace), {"selected": 3}
        yield f"{name}model_divergence", "model_divergence", (_divergence(tokens),), said
    yield "no pins", "pinned_lines", ((), hostile), {}


def _word(trace: Trace) -> FollowedWord:
    """A word of two tokens that the text has, with probabilities from 1 to less than any float."""
    steps = trace.token_steps
    ids = tuple(trace.token_ids[4:6])
    texts = tuple(step.chosen.text for step in steps[4:6])
    along = tuple(-20.0 * (at % 8) ** 2 for at in range(len(steps)))
    lone = WordSpelling(False, (ids[0], 1), ("<i>", "w" * 40), (-math.inf, *along[:-1]))
    return FollowedWord("<b>word</b>", (WordSpelling(True, ids, texts, along), lone))


def _known_pins(trace: Trace, ids: Sequence[int]) -> tuple[PinnedToken, ...]:
    """Tokens whose probability is known at every step, some below the smallest float."""
    count = len(trace.token_steps)
    return tuple(
        PinnedToken(
            token_id,
            f"<i>{token_id}</i>",
            tuple(-0.1 - 40.0 * at * step for step in range(count)),
            tuple(1 + at * step for step in range(count)),
            (None,) * count,
        )
        for at, token_id in enumerate(ids)
    )


def _divergence(tokens: Sequence[TextToken]) -> ModelDivergence:
    rows = tuple(
        TokenDivergence(
            token.place,
            token.token_id,
            token.text,
            0.0 if at == 5 else 10.0 ** -(at % 7),
            0.1,
            (at, at + at % 2),
            (token.text, "<b>other</b>"),
            (1.0, 2.0),
        )
        for at, token in enumerate(tokens[1:])
    )
    return ModelDivergence(("embedded:target", "<img src=x> (bfloat16)"), rows)


def _evaluate() -> Iterator[Entry]:
    for name in ("hot-draft", "beam", "leak"):
        evaluation = read_evaluation(TRACES.parent / "evaluation" / f"{name}.jsonl")
        yield f"accuracy of {name}", "evaluate_accuracy", (evaluation,), {}
        yield f"agreement of {name}", "evaluate_agreement", (evaluation,), {}
    drawn = read_evaluation(TRACES.parent / "evaluation" / "samplers.jsonl")
    yield "variety", "evaluate_variety", (drawn,), {}
    yield "variety of many ways", "evaluate_variety", (_many_ways(evaluation),), {}
    many = _many_ways(evaluation)
    yield "accuracy of many ways", "evaluate_accuracy", (many,), {}
    yield "agreement of many ways", "evaluate_agreement", (many,), {}
    yield "best_of", "best_of", (_samples(),), {"caption": "drawn 16 times"}


def _classroom() -> Iterator[Entry]:
    few = figures.ClassGuesses("The dice", "Which token?", (" cat", " dog"), (0, 0), 0)
    yield "class_guesses without any", "class_guesses", (few,), {}
    evil = "<img src=x onerror=alert(1)>"
    long = (
        "A choice whose text fills two lines of a narrow figure, and then some more",
        evil,
        "日本語",
    )
    asked = figures.ClassGuesses(evil, f"{evil} {long[0]} " * 2, long, (3, 21, 0), 31)
    yield "class_guesses", "class_guesses", (asked,), {}
    yield "class_guesses shown", "class_guesses", (replace(asked, right=1),), {}


def _many_ways(evaluation: Evaluation) -> Evaluation:
    """Twelve ways with long names, which give the first way's answers."""
    first = evaluation.plan.ways[0]
    ways = tuple(
        replace(first, name=f"<b>way {at}</b> of a very long name that no bar holds")
        for at in range(12)
    )
    rows_of_way = [row for row in evaluation.rows if row.way == first.name]
    rows = tuple(replace(row, way=way.name) for way in ways for row in rows_of_way)
    return Evaluation(replace(evaluation.plan, ways=ways), rows)


def _samples() -> tuple[Sampled, ...]:
    """Eight questions with 16 samples; every third sample is right."""
    return tuple(
        Sampled(
            f"question {at}",
            "4",
            tuple(
                Sample(f"It is {n % 3 + 3}.", str(n % 3 + 3), (at + n) % 3 == 1, -0.1 * n, n, n > 3)
                for n in range(16)
            ),
        )
        for at in range(8)
    )


def _inside() -> Iterator[Entry]:
    words = {"caption": "embedded:target · greedy · step 2"}
    yield "flame_chart", "flame_chart", (make_calls(),), words
    yield "lens_heatmap", "lens_heatmap", (make_lens(8, 24),), {**words, "selected": 32}
    yield "lens ranks", "lens_heatmap", (make_lens(8, 24),), {**words, "show": "rank"}
    yield "attention_map", "attention_map", (make_attention(4, 4, 40),), words
    yield (
        "attention of a layer",
        "attention_map",
        (make_attention(2, 8, 12),),
        {**words, "layer": 1},
    )
    yield "attention of many heads", "attention_map", (make_attention(40, 8, 12),), words
    for layers in (4, 30):
        forwards = (
            ("the prompt", make_forward(24, layers=layers)),
            ("one token behind it", make_forward(1, 24, layers=layers)),
        )
        yield f"module_times {layers}", "module_times", (forwards,), words
