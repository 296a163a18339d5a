"""Figures: pure functions from a trace to a Plotly figure, and the data behind each as a table.

Names are resolved at first use: pandas takes a quarter of a second, and the app's first paint
needs only the theme and the colours of the text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.figures.beam_branches import beam_tree as beam_tree
    from core.figures.beam_cut import beam_step as beam_step
    from core.figures.beam_cut import beam_step_data as beam_step_data
    from core.figures.beam_price import beam_rivals as beam_rivals
    from core.figures.beam_price import beam_rivals_data as beam_rivals_data
    from core.figures.beam_words import beam_tree_data as beam_tree_data
    from core.figures.candidates import candidate_bars as candidate_bars
    from core.figures.candidates import candidate_bars_data as candidate_bars_data
    from core.figures.durations import timing as timing
    from core.figures.durations import timing_data as timing_data
    from core.figures.entropy import uncertainty as uncertainty
    from core.figures.entropy import uncertainty_data as uncertainty_data
    from core.figures.heatmap import probability_heatmap as probability_heatmap
    from core.figures.heatmap import probability_heatmap_data as probability_heatmap_data
    from core.figures.lab.draw import lab_draw as lab_draw
    from core.figures.lab.draw import lab_draw_data as lab_draw_data
    from core.figures.lab.flips import lab_flips as lab_flips
    from core.figures.lab.flips import lab_flips_data as lab_flips_data
    from core.figures.lab.flips import nearest_flips as nearest_flips
    from core.figures.lab.rolls import lab_rolls as lab_rolls
    from core.figures.lab.rolls import lab_rolls_data as lab_rolls_data
    from core.figures.lab.stages import lab_stages as lab_stages
    from core.figures.lab.stages import lab_stages_data as lab_stages_data
    from core.figures.lab.sweep import lab_sweep as lab_sweep
    from core.figures.lab.sweep import lab_sweep_data as lab_sweep_data
    from core.figures.lab.tree import lab_tree as lab_tree
    from core.figures.lab.tree import lab_tree_data as lab_tree_data
    from core.figures.lab.tree import rows_data as rows_data
    from core.figures.lab.words import lab_caption as lab_caption
    from core.figures.labels import percent as percent
    from core.figures.labels import settings_caption as settings_caption
    from core.figures.labels import show_token as show_token
    from core.figures.labels import stage_name as stage_name
    from core.figures.labels import visible_token as visible_token
    from core.figures.prompt import prompt_reading as prompt_reading
    from core.figures.prompt import prompt_reading_data as prompt_reading_data
    from core.figures.reason.accuracy import reason_accuracy as reason_accuracy
    from core.figures.reason.accuracy import reason_accuracy_data as reason_accuracy_data
    from core.figures.reason.difficulty import reason_difficulty as reason_difficulty
    from core.figures.reason.difficulty import reason_difficulty_data as reason_difficulty_data
    from core.figures.reason.rivals import reason_rivals as reason_rivals
    from core.figures.reason.rivals import reason_rivals_data as reason_rivals_data
    from core.figures.reason.rivals import reason_votes_data as reason_votes_data
    from core.figures.reason.spent import reason_outcomes as reason_outcomes
    from core.figures.reason.spent import reason_rows_data as reason_rows_data
    from core.figures.reason.spent import reason_spent as reason_spent
    from core.figures.reason.spent import reason_spent_data as reason_spent_data
    from core.figures.reason.stops import reason_stops as reason_stops
    from core.figures.reason.stops import reason_stops_data as reason_stops_data
    from core.figures.spec.feed import spec_feed as spec_feed
    from core.figures.spec.feed import spec_feed_data as spec_feed_data
    from core.figures.spec.lossless import spec_enumeration as spec_enumeration
    from core.figures.spec.lossless import spec_enumeration_data as spec_enumeration_data
    from core.figures.spec.lossless import spec_outcomes as spec_outcomes
    from core.figures.spec.lossless import spec_outcomes_data as spec_outcomes_data
    from core.figures.spec.rates import spec_positions as spec_positions
    from core.figures.spec.rates import spec_positions_data as spec_positions_data
    from core.figures.spec.rates import spec_sweep as spec_sweep
    from core.figures.spec.rates import spec_sweep_data as spec_sweep_data
    from core.figures.spec.time import spec_time as spec_time
    from core.figures.spec.time import spec_time_data as spec_time_data
    from core.figures.spec.timeline import spec_timeline as spec_timeline
    from core.figures.spec.timeline import spec_timeline_data as spec_timeline_data
    from core.figures.spec.trial import spec_trial as spec_trial
    from core.figures.spec.trial import spec_trial_data as spec_trial_data
    from core.figures.strip import Legend as Legend
    from core.figures.strip import legend as legend
    from core.figures.strip import token_colors as token_colors
    from core.figures.theme import DARK as DARK
    from core.figures.theme import LIGHT as LIGHT
    from core.figures.theme import THEMES as THEMES
    from core.figures.theme import Theme as Theme
    from core.figures.way import step_way as step_way
    from core.figures.way_stages import step_way_data as step_way_data

_HOMES = {
    "beam_price": ("beam_rivals", "beam_rivals_data"),
    "beam_cut": ("beam_step", "beam_step_data"),
    "beam_branches": ("beam_tree",),
    "beam_words": ("beam_tree_data",),
    "candidates": ("candidate_bars", "candidate_bars_data"),
    "durations": ("timing", "timing_data"),
    "entropy": ("uncertainty", "uncertainty_data"),
    "heatmap": ("probability_heatmap", "probability_heatmap_data"),
    "lab.draw": ("lab_draw", "lab_draw_data"),
    "lab.flips": ("lab_flips", "lab_flips_data", "nearest_flips"),
    "lab.rolls": ("lab_rolls", "lab_rolls_data"),
    "lab.stages": ("lab_stages", "lab_stages_data"),
    "lab.sweep": ("lab_sweep", "lab_sweep_data"),
    "lab.tree": ("lab_tree", "lab_tree_data", "rows_data"),
    "lab.words": ("lab_caption",),
    "labels": ("percent", "settings_caption", "show_token", "stage_name", "visible_token"),
    "prompt": ("prompt_reading", "prompt_reading_data"),
    "spec.feed": ("spec_feed", "spec_feed_data"),
    "spec.lossless": (
        "spec_enumeration",
        "spec_enumeration_data",
        "spec_outcomes",
        "spec_outcomes_data",
    ),
    "spec.rates": ("spec_positions", "spec_positions_data", "spec_sweep", "spec_sweep_data"),
    "spec.time": ("spec_time", "spec_time_data"),
    "spec.timeline": ("spec_timeline", "spec_timeline_data"),
    "spec.trial": ("spec_trial", "spec_trial_data"),
    "reason.accuracy": ("reason_accuracy", "reason_accuracy_data"),
    "reason.difficulty": ("reason_difficulty", "reason_difficulty_data"),
    "reason.rivals": ("reason_rivals", "reason_rivals_data", "reason_votes_data"),
    "reason.spent": ("reason_outcomes", "reason_rows_data", "reason_spent", "reason_spent_data"),
    "reason.stops": ("reason_stops", "reason_stops_data"),
    "strip": ("Legend", "legend", "token_colors"),
    "theme": ("DARK", "LIGHT", "THEMES", "Theme"),
    "way": ("step_way",),
    "way_stages": ("step_way_data",),
}
_HOME_OF = {name: f"core.figures.{home}" for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'core.figures' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
