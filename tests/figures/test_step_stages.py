"""A step's way: every bar is whole, the number falls where it fell."""

import math
from dataclasses import replace

import pytest

from core.decoding.constraints.value import Constraint
from core.decoding.shaping.config import Shaping
from core.figures import LIGHT, candidate_bars, printed, step_stages, step_stages_data
from core.figures.base.labels import text_columns, visible_token
from core.figures.base.paper import SCREEN
from core.figures.decode.draw import drawn_segments, scored
from core.figures.decode.stage_bars import shown_stages
from tests.figures.looking import annotations, shapes_named, trace_named
from tests.figures.traces import make_trace

SHAPING = Shaping(temperature=1.3, top_k=100, top_p=0.9)
TRACE = make_trace(12, shaping=SHAPING)


def rows_of(figure):
    """Row -> the segments (low, share) of all tokens."""
    rows = {}
    for drawn in figure.data:
        if drawn.type == "bar":
            for row, low, share in zip(drawn.y, drawn.base, drawn.x, strict=True):
                rows.setdefault(row, []).append((low, share))
    return rows


def bars_of(figure, token_id):
    """A token's segments from above: row, low, share and colour."""
    drawn = trace_named(figure, "segments")
    bars = zip(drawn.customdata, drawn.y, drawn.base, drawn.x, drawn.marker.color, strict=True)
    return [tuple(bar) for (_, token), *bar in bars if token == token_id]


def colors_of(figure, step):
    """Return the colour of each candidate, the same in all its bars."""
    colors = {c.token_id: {bar[3] for bar in bars_of(figure, c.token_id)} for c in step.candidates}
    return {token: color for token, (color,) in colors.items()}


@pytest.mark.parametrize("step", TRACE.token_steps, ids=lambda step: str(step.index))
def test_segments_of_every_bar_sum_to_one_without_gap_or_overlap(step):
    rows = rows_of(step_stages(step, TRACE))
    assert set(rows) == set(range(len(shown_stages(step)) + 1))
    for pieces in rows.values():
        at = 0.0
        for low, share in sorted(pieces):
            assert low == pytest.approx(at, abs=1e-9)
            at = low + share
        assert at == pytest.approx(1.0)


def test_a_narrow_figure_has_the_further_numbers_of_a_setting_above_the_removal():
    shaping = Shaping(mirostat=2, mirostat_tau=5.0, mirostat_eta=0.1)
    trace = make_trace(2, shaping=shaping)
    shifts = []
    for width in (400, 1200):
        figure = step_stages(trace.token_steps[0], trace, paper=replace(SCREEN, width=width))
        named = "<b>mirostat 2, tau 5, eta 0.1</b>"
        notes = [note for note in figure.layout.annotations if note.text.startswith(named)]
        shifts.append([note.yshift for note in notes])
    ((narrow,), (wide,)) = shifts
    assert narrow > wide


def test_segments_are_the_stages_probabilities():
    step = TRACE.token_steps[5]
    figure = step_stages(step, TRACE)
    for place, candidate in enumerate(step.candidates):
        shares = [stage.probs[place] for stage in shown_stages(step)]
        drawn = {row: share for row, _, share, _ in bars_of(figure, candidate.token_id)}
        assert [drawn.get(row, 0) for row in range(len(shares))] == shares


def test_removed_mass_and_kept_tokens_are_written():
    step = TRACE.token_steps[5]
    texts = [text.replace("\u00a0", " ") for text in annotations(step_stages(step, TRACE))]
    stage = step.stages[3]
    assert f"{100 * stage.removed_mass:.1f} % removed, {stage.kept:,} of 512 kept" in texts
    assert "512 tokens" in texts and texts.count("nothing removed") == 1
    # The final stage repeats the last one, and is not drawn twice.
    assert [stage.name for stage in shown_stages(step)] == ["raw", "temperature", "top_k", "top_p"]
    # A stage that keeps what the one before kept removed nothing.
    *others, cut, final = step.stages
    assert cut.kept < step.stages[0].kept
    idle = cut._replace(name="min_p", removed_mass=0.0)
    step = replace(step, stages=(*others, cut, idle, final))
    texts = annotations(step_stages(step, TRACE))
    assert texts.count("nothing removed") == 2
    assert not any(text.startswith(("−", "0\u00a0%")) for text in texts)


def test_the_number_falls_into_the_chosen_tokens_segment():
    for step in TRACE.token_steps:
        figure = step_stages(step, TRACE)
        (mark,) = shapes_named(figure, "uniform")
        assert mark.x0 == mark.x1 == step.draw.uniform
        # Its white border lies under the chosen token's frame, of which it would cut a piece out.
        order = [shape.name for shape in figure.layout.shapes]
        assert order.index("uniform border") < order.index("chosen") < order.index("uniform")
        _, low, share, _ = bars_of(figure, step.token_id)[-1]
        assert low <= step.draw.uniform < low + share
        assert (low, low + share) == pytest.approx(step.draw.interval)
        frame = shapes_named(figure, "chosen")[-1]
        assert (frame.x0, frame.x1) == (low, low + share)
        assert frame.line.color == LIGHT.accent


@pytest.mark.parametrize("draw", ["inverse_cdf", "gumbel"])
def test_a_forced_token_has_no_draw_of_the_pick_that_it_replaced(draw):
    step = make_trace(6, draw=draw, shaping=SHAPING).token_steps[3]
    pick, place = (
        step.token_id,
        next(at for at, c in enumerate(step.candidates) if c.token_id != step.token_id),
    )
    one = tuple(float(at == place) for at in range(len(step.candidates)))
    forcing = step.stages[-1]._replace(name="forced", probs=one, tail_mass=0.0, kept=1)
    step = replace(
        step,
        token_id=step.candidates[place].token_id,
        origin="forced",
        forced_as="given",
        instead_of=pick,
        stages=(*step.stages[:-1], forcing, forcing._replace(name="final")),
    )
    figure = step_stages(step, TRACE)
    assert set(rows_of(figure)) == set(range(len(shown_stages(step))))
    assert not shapes_named(figure, "uniform")
    assert "score" not in [drawn.name for drawn in figure.data]
    assert any("is forced" in text for text in annotations(figure))


def test_a_chosen_token_of_the_tail_leaves_other_tokens_on_both_sides():
    step = next(s for s in TRACE.token_steps if s.chosen.rank > 20)
    names = [segment.candidate for segment in drawn_segments(step)]
    assert names[names.index(len(step.candidates) - 1) - 1] is None


def test_a_token_stands_at_one_place_of_the_order_in_all_rows():
    step = next(s for s in TRACE.token_steps if s.chosen.rank > 20)
    figure = step_stages(step, TRACE)
    bars = {c.token_id: bars_of(figure, c.token_id) for c in step.candidates}
    *_, last, drawn = bars[step.token_id]
    assert last[1:3] == pytest.approx(drawn[1:3])
    orders, gaps = [], []
    for row, low, share, _ in bars[step.token_id]:
        places = {
            token: bar for token, token_bars in bars.items() for bar in token_bars if bar[0] == row
        }
        orders.append(sorted(places, key=lambda token: places[token][1]))
        # Other tokens stand between the candidate before and the chosen one.
        before = max(bar[1] + bar[2] for bar in places.values() if bar[1] < low)
        gaps.append((low - before) / share)
    remaining = orders[-1]
    assert all([token for token in order if token in remaining] == remaining for order in orders)
    # Cuts leave the ratio to the chosen token as it is in the draw.
    assert gaps[-1] > 0 and gaps == pytest.approx([gaps[-1]] * len(gaps))


def test_a_colour_stays_with_its_token_and_the_ribbon_follows_the_chosen():
    step = TRACE.token_steps[5]
    figure = step_stages(step, TRACE)
    colors = colors_of(figure, step)
    assert len(set(colors.values())) == 6 and LIGHT.accent not in colors.values()
    assert len(shapes_named(figure, "chosen")) == len(shown_stages(step)) + 1
    assert len(shapes_named(figure, "ribbon")) == len(shown_stages(step))


def test_a_token_keeps_its_colour_in_every_figure_when_another_one_is_chosen():
    step = TRACE.token_steps[5]
    candidate = next(c for c in step.candidates if c.token_id != step.token_id and c.prob > 0)
    flipped = replace(step, token_id=candidate.token_id)
    stages = colors_of(step_stages(step, TRACE), step)
    assert colors_of(step_stages(flipped, TRACE), flipped) == stages
    for shown in (step, flipped):
        final = trace_named(candidate_bars(shown, TRACE), "final")
        for (_, token), color in zip(final.customdata, final.marker.color, strict=True):
            assert stages[token] == color


def test_greedy_says_that_nothing_is_drawn():
    greedy = make_trace(4, "greedy")
    figure = step_stages(greedy.token_steps[1], greedy)
    assert any("no draw" in text and "argmax" in text for text in annotations(figure))
    assert not shapes_named(figure, "uniform")


@pytest.mark.parametrize("draw", ["gumbel", "multinomial"])
def test_noisy_scores_are_shown_and_the_highest_is_the_chosen(draw):
    trace = make_trace(6, draw=draw, shaping=SHAPING)
    for step in trace.token_steps:
        figure = step_stages(step, trace)
        points = trace_named(figure, "score")
        known = [(s, c) for s, c in zip(step.draw.scores, step.candidates, strict=True) if s]
        best = max(known, key=lambda pair: pair[0])
        assert points.x[0] == best[0]
        assert points.customdata[0][1] == best[1].token_id == step.token_id
        assert [bool(width) for width in points.marker.line.width].index(True) == 0
        assert trace_named(figure, "log-probability").x[0] == pytest.approx(math.log(best[1].prob))
        assert [item.score for item in scored(step)] == sorted(points.x, reverse=True)


def test_a_step_without_scores_has_no_panel_for_them():
    step = TRACE.token_steps[0]
    assert scored(step) == []
    assert scored(replace(step, draw=step.draw._replace(scores=(None,) * 20))) == []


def test_table_holds_every_stage_and_sums_to_one():
    step = TRACE.token_steps[5]
    table = step_stages_data(step, TRACE)
    assert list(dict.fromkeys(table["stage"])) == [stage.name for stage in step.stages]
    assert table.groupby("stage")["prob"].sum().tolist() == pytest.approx([1] * 5)
    others = table[table["token_id"].isna()]
    assert others["prob"].tolist() == [stage.tail_mass for stage in step.stages]
    assert table["removed_mass"].max() == max(stage.removed_mass for stage in step.stages)


def test_a_journals_caption_names_the_token_of_each_colour() -> None:
    trace = make_trace()
    step, paper = trace.token_steps[0], printed(journal="nature")
    caption = step_stages(step, trace, paper=paper).layout.meta["caption"]
    colored = [c for c in step.candidates if LIGHT.token_color(c.rank) != LIGHT.unnamed]
    assert colored and all(f": {visible_token(c.text)}" in caption for c in colored)


def test_a_long_rule_is_cut_and_some_kept_tokens_are_never_100_percent_removed():
    """A regular expression lay on the mass that it removed, and that mass was 100 % of ten left."""
    trace = make_trace(2, shaping=SHAPING)
    step = trace.token_steps[0]
    rule = Constraint("regex", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")
    config = replace(trace.config, shaping=replace(SHAPING, constraint=rule))
    first, cut, *others = step.stages
    cut = cut._replace(name="constraint", removed_mass=1 - 1e-7, kept=10)
    step = replace(step, stages=(first, cut, *others))
    figure = step_stages(step, replace(trace, config=config), paper=replace(SCREEN, width=380))
    texts = [text.replace("\u00a0", " ") for text in annotations(figure)]
    assert "> 99.9 % removed, 10 of 512 kept" in texts
    [label] = [text for text in texts if text.startswith("<b>constraint")]
    assert label.endswith("…</b>")
    assert text_columns(label[3:-4]) <= 380 / 6.5
