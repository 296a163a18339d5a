"""Figures: pure functions from a trace to a Plotly figure, and the data behind each as a table.

Names are resolved at first use: pandas takes a quarter of a second, and the app's first paint
needs only the theme and the colours of the text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.figures.base.labels import percent as percent
    from core.figures.base.labels import settings_caption as settings_caption
    from core.figures.base.labels import show_token as show_token
    from core.figures.base.labels import stage_name as stage_name
    from core.figures.base.labels import visible_token as visible_token
    from core.figures.base.theme import DARK as DARK
    from core.figures.base.theme import LIGHT as LIGHT
    from core.figures.base.theme import THEMES as THEMES
    from core.figures.base.theme import Theme as Theme
    from core.figures.beam.compare import beam_rivals as beam_rivals
    from core.figures.beam.compare import beam_rivals_data as beam_rivals_data
    from core.figures.beam.step import beam_step as beam_step
    from core.figures.beam.step import beam_step_data as beam_step_data
    from core.figures.beam.tree import beam_tree as beam_tree
    from core.figures.beam.words import beam_tree_data as beam_tree_data
    from core.figures.decode.candidates import candidate_bars as candidate_bars
    from core.figures.decode.candidates import candidate_bars_data as candidate_bars_data
    from core.figures.decode.durations import timing as timing
    from core.figures.decode.durations import timing_data as timing_data
    from core.figures.decode.entropy import uncertainty as uncertainty
    from core.figures.decode.entropy import uncertainty_data as uncertainty_data
    from core.figures.decode.heatmap import probability_heatmap as probability_heatmap
    from core.figures.decode.heatmap import probability_heatmap_data as probability_heatmap_data
    from core.figures.decode.prompt import prompt_reading as prompt_reading
    from core.figures.decode.prompt import prompt_reading_data as prompt_reading_data
    from core.figures.decode.stage_bars import step_way_data as step_way_data
    from core.figures.decode.stages import step_way as step_way
    from core.figures.decode.strip import Legend as Legend
    from core.figures.decode.strip import legend as legend
    from core.figures.decode.strip import token_colors as token_colors
    from core.figures.lab.decision_boundaries import lab_flips as lab_flips
    from core.figures.lab.decision_boundaries import lab_flips_data as lab_flips_data
    from core.figures.lab.decision_boundaries import nearest_flips as nearest_flips
    from core.figures.lab.draw import lab_draw as lab_draw
    from core.figures.lab.draw import lab_draw_data as lab_draw_data
    from core.figures.lab.rolls import lab_rolls as lab_rolls
    from core.figures.lab.rolls import lab_rolls_data as lab_rolls_data
    from core.figures.lab.stages import lab_stages as lab_stages
    from core.figures.lab.stages import lab_stages_data as lab_stages_data
    from core.figures.lab.temperatures import lab_sweep as lab_sweep
    from core.figures.lab.temperatures import lab_sweep_data as lab_sweep_data
    from core.figures.lab.tree import lab_tree as lab_tree
    from core.figures.lab.tree import lab_tree_data as lab_tree_data
    from core.figures.lab.tree import rows_data as rows_data
    from core.figures.lab.words import lab_caption as lab_caption
    from core.figures.reasoning.accuracy import reason_accuracy as reason_accuracy
    from core.figures.reasoning.accuracy import reason_accuracy_data as reason_accuracy_data
    from core.figures.reasoning.compare import reason_rivals as reason_rivals
    from core.figures.reasoning.compare import reason_rivals_data as reason_rivals_data
    from core.figures.reasoning.compare import reason_votes_data as reason_votes_data
    from core.figures.reasoning.difficulty import reason_difficulty as reason_difficulty
    from core.figures.reasoning.difficulty import reason_difficulty_data as reason_difficulty_data
    from core.figures.reasoning.spent import reason_outcomes as reason_outcomes
    from core.figures.reasoning.spent import reason_rows_data as reason_rows_data
    from core.figures.reasoning.spent import reason_spent as reason_spent
    from core.figures.reasoning.spent import reason_spent_data as reason_spent_data
    from core.figures.reasoning.stops import reason_stops as reason_stops
    from core.figures.reasoning.stops import reason_stops_data as reason_stops_data
    from core.figures.speculative.feed import spec_feed as spec_feed
    from core.figures.speculative.feed import spec_feed_data as spec_feed_data
    from core.figures.speculative.lossless import spec_enumeration as spec_enumeration
    from core.figures.speculative.lossless import spec_enumeration_data as spec_enumeration_data
    from core.figures.speculative.lossless import spec_outcomes as spec_outcomes
    from core.figures.speculative.lossless import spec_outcomes_data as spec_outcomes_data
    from core.figures.speculative.rates import spec_positions as spec_positions
    from core.figures.speculative.rates import spec_positions_data as spec_positions_data
    from core.figures.speculative.rates import spec_sweep as spec_sweep
    from core.figures.speculative.rates import spec_sweep_data as spec_sweep_data
    from core.figures.speculative.time import spec_time as spec_time
    from core.figures.speculative.time import spec_time_data as spec_time_data
    from core.figures.speculative.timeline import spec_timeline as spec_timeline
    from core.figures.speculative.timeline import spec_timeline_data as spec_timeline_data
    from core.figures.speculative.verification import spec_trial as spec_trial
    from core.figures.speculative.verification import spec_trial_data as spec_trial_data

_HOMES = {
    "beam.compare": ("beam_rivals", "beam_rivals_data"),
    "beam.step": ("beam_step", "beam_step_data"),
    "beam.tree": ("beam_tree",),
    "beam.words": ("beam_tree_data",),
    "decode.candidates": ("candidate_bars", "candidate_bars_data"),
    "decode.durations": ("timing", "timing_data"),
    "decode.entropy": ("uncertainty", "uncertainty_data"),
    "decode.heatmap": ("probability_heatmap", "probability_heatmap_data"),
    "lab.draw": ("lab_draw", "lab_draw_data"),
    "lab.decision_boundaries": ("lab_flips", "lab_flips_data", "nearest_flips"),
    "lab.rolls": ("lab_rolls", "lab_rolls_data"),
    "lab.stages": ("lab_stages", "lab_stages_data"),
    "lab.temperatures": ("lab_sweep", "lab_sweep_data"),
    "lab.tree": ("lab_tree", "lab_tree_data", "rows_data"),
    "lab.words": ("lab_caption",),
    "base.labels": ("percent", "settings_caption", "show_token", "stage_name", "visible_token"),
    "decode.prompt": ("prompt_reading", "prompt_reading_data"),
    "speculative.feed": ("spec_feed", "spec_feed_data"),
    "speculative.lossless": (
        "spec_enumeration",
        "spec_enumeration_data",
        "spec_outcomes",
        "spec_outcomes_data",
    ),
    "speculative.rates": ("spec_positions", "spec_positions_data", "spec_sweep", "spec_sweep_data"),
    "speculative.time": ("spec_time", "spec_time_data"),
    "speculative.timeline": ("spec_timeline", "spec_timeline_data"),
    "speculative.verification": ("spec_trial", "spec_trial_data"),
    "reasoning.accuracy": ("reason_accuracy", "reason_accuracy_data"),
    "reasoning.difficulty": ("reason_difficulty", "reason_difficulty_data"),
    "reasoning.compare": ("reason_rivals", "reason_rivals_data", "reason_votes_data"),
    "reasoning.spent": ("reason_outcomes", "reason_rows_data", "reason_spent", "reason_spent_data"),
    "reasoning.stops": ("reason_stops", "reason_stops_data"),
    "decode.strip": ("Legend", "legend", "token_colors"),
    "base.theme": ("DARK", "LIGHT", "THEMES", "Theme"),
    "decode.stages": ("step_way",),
    "decode.stage_bars": ("step_way_data",),
}
_HOME_OF = {name: f"core.figures.{home}" for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'core.figures' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
