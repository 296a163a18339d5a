"""Several figures as the panels of one: their places, letters, ids, words and files."""

from __future__ import annotations

import io
import re
from functools import partial
from xml.etree import ElementTree

import pytest
from PIL import Image

from core.cli.main import main
from core.decoding.errors import FigureError
from core.export import save
from core.export.panels import Panels
from core.export.save import save_figure
from core.figures import DARK, LIGHT, candidate_bars, printed, probability_heatmap, uncertainty
from tests.export.drawings import raw
from tests.figures.traces import make_trace

SVG = "{http://www.w3.org/2000/svg}"
PAGE = printed("page", journal="nature")
TRACE = make_trace(6)
DRAWS = (
    partial(probability_heatmap, TRACE),
    partial(candidate_bars, TRACE.token_steps[1], TRACE),
    partial(uncertainty, TRACE),
)


def joined(paper=PAGE, theme=LIGHT, count: int = 3):
    panels = Panels.of(paper, count)
    figures = [draw(theme=theme, paper=panels.panel) for draw in DRAWS[:count]]
    raws = [raw(size=(figure.layout.width, figure.layout.height)) for figure in figures]
    return panels, figures, panels.drawing(raws, figures, "fig")


def places(text: str) -> list[tuple[float, float]]:
    """Places of the panels, px."""
    groups = [group.get("transform", "") for group in ElementTree.fromstring(text).iter(f"{SVG}g")]
    matches = [re.fullmatch(r"translate\(([0-9.]+),([0-9.]+)\)", match) for match in groups]
    return [(float(match[1]), float(match[2])) for match in matches if match][::2]


def test_panels_stand_side_by_side_where_the_width_holds_them() -> None:
    panels, figures, drawing = joined()
    assert ElementTree.fromstring(drawing.text).get("width") == "183mm"
    assert panels.panel.type_pt == pytest.approx(6, rel=1e-3)
    (left, top), (right, beside), (below, lower) = places(drawing.text)
    assert (left, top, beside, below) == (0, 0, 0, 0)
    assert right > panels.panel.width and right + panels.panel.width == pytest.approx(PAGE.width)
    assert lower >= max(figure.layout.height for figure in figures[:2])
    assert drawing.height >= lower + figures[2].layout.height
    assert [x for x, _ in places(joined(printed(journal="nature"))[2].text)] == [0, 0, 0]


def test_panels_are_lettered_and_share_no_id() -> None:
    _, _, drawing = joined()
    root = ElementTree.fromstring(drawing.text)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert [text for text in texts if text.startswith("(")] == ["(a)", "(b)", "(c)"]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) >= 5
    used = set(re.findall(r"url\(#([^)]+)\)", drawing.text))
    assert len(used) == 3 and used <= set(ids)


def test_the_caption_says_each_panel_and_shared_settings_once() -> None:
    panels, figures, drawing = joined()
    words = panels.words([figure.layout.meta for figure in figures])
    assert words["caption"].index("(a) ") < words["caption"].index("(b) Candidates at step 2. ")
    assert words["caption"].count("embedded:target") == 1
    assert "(c) " in words["alt"] and words["caption"] in drawing.text.replace("&gt;", ">")
    changed_meta = {
        **figures[0].layout.meta,
        "settings": "another run",
        "caption": "A. another run.",
    }
    assert "another run" in panels.words([figures[1].layout.meta, changed_meta])["caption"]


def test_the_ground_is_that_of_the_theme_or_none() -> None:
    assert f'fill="{DARK.paper}"' in joined(printed("page"), DARK)[2].text
    clear = joined(printed("page", transparent=True))[2].text
    assert not ElementTree.fromstring(clear).findall(f"{SVG}rect")


@pytest.mark.parametrize("count", [0, 1, 27])
def test_a_number_of_panels_that_has_no_letters_is_refused(count: int) -> None:
    with pytest.raises(FigureError, match="2 to 26 panels"):
        Panels.of(PAGE, count)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list:
    """The figures that a browser was asked to draw, and didn't."""
    seen = []

    def svgs(figures):
        seen.extend(figures)
        return [raw(size=(figure.layout.width, figure.layout.height)) for figure in figures]

    monkeypatch.setattr(save, "svgs", svgs)
    return seen


@pytest.mark.usefixtures("seen")
def test_several_figures_are_saved_as_one_file(tmp_path) -> None:
    for form in ("svg", "pdf", "png"):
        save_figure(DRAWS, tmp_path / f"a.{form}", paper=PAGE)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-1.5")
    with Image.open(io.BytesIO((tmp_path / "a.png").read_bytes())) as image:
        assert image.width == pytest.approx(183 / 25.4 * 300, abs=1)
    with pytest.raises(FigureError, match="Panels are saved as"):
        save_figure(DRAWS, tmp_path / "a.html", paper=PAGE)


def test_the_command_line_joins_named_figures_and_prints_their_caption(
    seen, tmp_path, capsys
) -> None:
    file, out = tmp_path / "run.json", tmp_path / "out.pdf"
    TRACE.save(file)
    to = ["--out", str(out), "--journal", "nature"]
    assert main(["figure", str(file), "--figure", "heatmap,candidates", *to]) == 0
    assert out.read_bytes().startswith(b"%PDF") and len(seen) == 2
    assert capsys.readouterr().out.startswith("(a) The likeliest tokens at every step. ")
    assert not any(figure.layout.title.text for figure in seen)
    assert main(["figure", str(file), "--figure", "candidates", *to, "--title"]) == 0
    assert seen[-1].layout.title.text and "Vermilion frame" not in seen[-1].layout.meta["settings"]
    capsys.readouterr()
    for names in ("heatmap,none", "heatmap,all", "heatmap,"):
        assert main(["figure", str(file), "--figure", names, *to]) == 2
        assert "This file has the figures heatmap, " in capsys.readouterr().err
