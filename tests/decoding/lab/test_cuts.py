"""Every filter alone on one step: as a run with that filter only cuts it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.decoding.autoregressive.config import Sampling
from core.decoding.lab.cuts import CUTS, all_cuts
from core.decoding.lab.step import distributions, lab_step
from core.decoding.shaping.config import SETTINGS, Shaping
from tests.decoding.lab.scenes import random_scene

CONFIG = Sampling(seed=3, shaping=Shaping(temperature=0.7, top_p=0.6, xtc_threshold=0.02))


def test_each_filter_cuts_the_model_s_own_distribution_by_itself() -> None:
    scene = random_scene(400, seed=2)
    step = lab_step(scene, CONFIG)
    cuts = all_cuts(scene, CONFIG, step)
    assert [cut.name for cut in cuts] == [*CUTS]
    assert [cut.name for cut in cuts if cut.on] == ["top_p"]
    for cut in cuts:
        alone = {
            "xtc_probability": {cut.name: 1.0, "xtc_threshold": cut.value},
            "mirostat": {cut.name: 2, "mirostat_tau": cut.value},
        }
        shaping = Shaping(**alone.get(cut.name, {cut.name: cut.value}))
        *_, last = distributions(scene, shaping)
        assert (last.name, cut.kept) == (cut.name, last.kept)
        assert cut.mass == pytest.approx(1 - last.removed_mass, abs=1e-5)
        left = {*last.ids.tolist()}
        assert cut.keeps == tuple(c.token_id in left for c in step.step.candidates)


def test_a_filter_that_is_on_has_its_own_value_and_another_the_usual_one() -> None:
    scene = random_scene(400, seed=2)
    config = replace(CONFIG, shaping=Shaping(top_k=3, xtc_probability=0.4))
    values = {cut.name: cut for cut in all_cuts(scene, config, lab_step(scene, config))}
    assert (values["top_k"].value, values["top_k"].kept) == (3, 3)
    assert values["xtc_probability"].on and values["xtc_probability"].value == 0.1
    assert values["min_p"].value == SETTINGS["min_p"].usual and not values["min_p"].on
