"""The archive of a run's figures: its files, its tables, and a document that LaTeX compiles."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from html import escape, unescape
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from pandas import DataFrame

from core.decoding.beam.types import SearchRecord
from core.decoding.record.trace import Trace
from core.decoding.version import VERSION
from core.export import latex
from core.export.archive import Archive
from core.export.catalog import entries_of
from core.export.part import FORMATS, Part, stem
from core.export.subject import Subject
from core.export.table import csv_file, csv_text
from core.export.tables import tables_of
from core.figures import LIGHT, printed
from core.language import use
from tests.export.drawings import raw

STORED = Path(__file__).parents[2] / "assets" / "traces"
PAPER = printed("85mm")
LINK = "http://127.0.0.1/?run=1&prompt=a%20{b"
HOSTILE = "\\input{/etc/passwd} 100% & $x$ #1 _a_ {b} ~ ^ <b> ␣日\n"


def parts_of(trace: Trace) -> list[Part]:
    return [entry.part(None, PAPER) for entry in entries_of(trace)]


def filled(trace: Trace) -> Archive:
    """An archive of all figures of a trace, each with the same small picture."""
    subject = Subject.of_trace(trace, trace.to_json().encode())
    archive = Archive(subject, PAPER, LINK, tables_of(trace), "page")
    for part in parts_of(trace):
        archive.add(part, part.figure(LIGHT, PAPER), raw())
    archive.lack(Part("sweep", needs="measure it first"))
    return archive


def opened(archive: Archive) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive.encode())) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.mark.parametrize("name", ["decode", "beam", "speculative"])
def test_every_figure_has_all_its_files_and_its_whole_table(name: str) -> None:
    trace = Trace.load(STORED / f"{name}.json")
    files = opened(filled(trace))
    parts = parts_of(trace)
    stems = {path.removesuffix(".svg") for path in files if path.endswith(".svg")}
    assert len(stems) == len(parts) > 1
    for file_stem in stems:
        for ending in (*FORMATS, "csv", "caption.txt", "alt.txt"):
            assert files[f"{file_stem}.{ending}"], (file_stem, ending)
        alt = files[f"{file_stem}.alt.txt"].decode().strip()
        assert (
            len(alt) > 60
            and f'-desc">{escape(alt, quote=False)}' in files[f"{file_stem}.svg"].decode()
        )
        assert trace.config.method in file_stem and file_stem.startswith("figures/page-")
        assert name != "decode" or "seed16" in file_stem
    table_paths = [path for path in files if path.endswith(".csv") and path.startswith("figures/")]
    tables = sorted(files[path] for path in table_paths)
    assert tables == sorted(("\ufeff" + csv_text(part.data())).encode() for part in parts)
    for content in tables:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    assert Trace.from_dict(json.loads(files["trace.json"])) == trace
    assert json.loads(files["settings.json"])["prompt"] == trace.prompt
    assert b"measure it first" in files["figures.md"]
    cited, settings = files["citation.bib"].decode(), json.loads(files["settings.json"])
    assert (
        "http://127.0.0.1/?run=1&prompt=a%20%7Bb" in cited and f"version = {{{VERSION}}}" in cited
    )
    assert (
        settings["model_revision"] == trace.model_revision in cited and settings["dtype"] in cited
    )
    assert settings["app"] == VERSION and settings["draft_revision"] == (
        trace.draft_revision or None
    )
    assert all(word in cited for word in trace.prompt.split()[:3])
    assert f"\n## {VERSION}" in (STORED.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_archive_of_a_search_is_the_same_bytes_twice_with_its_hypotheses_and_no_seed() -> None:
    trace = Trace.load(STORED / "beam.json")
    archive = filled(trace)
    assert archive.encode() == filled(trace).encode()
    files = opened(archive)
    assert not any("seed" in name for name in files)
    text = files["figures.tex"].decode()
    assert r"\toprule" in text and text.count(r" \\") == 1 + len(trace.hypotheses)


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("stages", {"shown": ["step-8"]}, "stages-step-8"),
        ("beam-step", {"shown": ["step-5"]}, "beam-step-5"),
        ("verification", {"shown": ["round-3", "own-token"]}, "verification-round-3-own-token"),
        ("timeline", {"subtitle": "Its last row is the target’s own token."}, "timeline"),
        ("tree", {"shown": ["steps-1-to-14"]}, "tree-steps-1-to-14"),
        ("lens-step-3", {"shown": ["positions-2-to-9"]}, "lens-step-3"),
        ("heatmap", {"subtitle": "Narrow: steps at which it was surest."}, "heatmap"),
    ],
)  # fmt: skip
def test_a_figures_files_are_named_by_what_it_shows(name: str, words: dict, said: str) -> None:
    assert stem(name, None, words) == said


def test_a_wide_table_and_a_high_figure_stay_on_the_page() -> None:
    many = DataFrame({f"a long column name {at}": [0.5] for at in range(9)})
    assert latex.table(many, "Wide.").count(r"\resizebox{\linewidth}{!}{\begin{tabular}") == 1
    assert r"p{0.45\linewidth}" in latex.table(DataFrame({"text": ["word " * 40]}), "Long.")
    assert r"height=0.8\textheight" in latex.figure("a.pdf", "A.", "a", 85)
    assert latex.document([latex.figure("a.pdf", "A.", "a", 85)] * 20).count(r"\clearpage") == 2
    for rows, cut in ((40, False), (41, True)):
        tables = [("Rows.", DataFrame({"n": range(rows)}))]
        files = opened(Archive(Subject("", {}, {}), PAPER, tables=tables))
        assert (b"The first 40 of" in files["figures.tex"]) is cut


def test_a_table_of_tokens_tells_the_model_s_probability_from_that_after_shaping() -> None:
    trace = Trace.load(STORED / "decode.json")
    (_, table) = tables_of(trace)[-1]
    chosen = [step.chosen for step in trace.token_steps]
    assert list(table["probability"]) == [candidate.raw_prob for candidate in chosen]
    assert list(table["after shaping"]) == [candidate.prob for candidate in chosen]


ADVERSARIAL = [
    # Text; as LaTeX; as a cell; as a value of BibTeX. None: as the text.
    ("100% & #1 $x_1", r"100\% \& \#1 \$x\_1", None, None),
    ("[1] first", "[1] first", "{}[1] first", None),
    (" [b", " [b", "{}[b", None),
    ("*bold*", "*bold*", "{}*bold*", None),
    ("a--b", r"a-\allowbreak{}-b", None, None),
    ("<<x>", r"\textless\kern0pt{}\textless{}x\textgreater{}", None, None),
    ("''?`", r"\textquotesingle{}\textquotesingle{}?\textasciigrave{}", None, None),
    ("top-p, x,,", r"top-p, x,\kern0pt{},", None, None),
    ("“σ”", r"\textquotedblleft{}\ensuremath{\sigma}\textquotedblright{}", None, None),
    ("int main() {", r"int main() \{", None, r"int main() \textbraceleft{}"),
    ("}}\\", r"\}\}\textbackslash{}", None, r"\textbraceright{}\textbraceright{}\textbackslash{}"),
    ('"@article', r"\texttt{\char34}@article", None, r"\texttt{\char34}{\char64}article"),
    ("✓", r"\ding{51}", None, r"\texttt{U+2713}"),
    ("a\n\tb\x00\x1b\u202e", "a  b", None, None),
    ("né日", "né日", None, r"né\texttt{U+65E5}"),
]


@pytest.mark.parametrize(("text", "plain", "in_cell", "in_bibtex"), ADVERSARIAL)
def test_text_of_a_model_is_no_command_of_latex(
    text: str, plain: str, in_cell: str | None, in_bibtex: str | None
) -> None:
    assert latex.escaped(text) == plain
    assert latex.cell(text) == (plain if in_cell is None else in_cell)
    assert latex.bibtex(text) == (plain if in_bibtex is None else in_bibtex)


def test_the_braces_of_a_bibtex_value_are_balanced_for_a_reader_that_knows_no_backslash() -> None:
    cited = latex.bibtex("".join(text for text, *_ in ADVERSARIAL) + HOSTILE)
    depths = list(accumulate((char == "{") - (char == "}") for char in cited))
    assert min(depths) >= 0 and depths[-1] == 0


def test_no_row_of_a_table_begins_with_an_option_of_the_row_before() -> None:
    frame = DataFrame({"[head]": ["[a", "*b", ""], "x": ["[c", "d", "e"]})
    rows = latex.table(frame, "Options.").splitlines()
    for above, row in pairwise(rows):
        if above.endswith(("\\\\", "rule")):
            assert not row.lstrip().startswith(("[", "*")), row


def test_an_archive_in_japanese_has_japanese_captions_and_an_english_citation() -> None:
    trace = Trace.load(STORED / "decode.json")
    english = opened(filled(trace))
    with use("ja"):
        files = opened(filled(trace))
    assert files["citation.bib"] == english["citation.bib"]
    captions = [text.decode() for name, text in files.items() if name.endswith(".caption.txt")]
    assert captions and all("。embedded:target" in text for text in captions)


@pytest.mark.parametrize(
    ("text", "font"), [("実行の木", "CJK JP"), ("실행 日", "CJK KR"), ("naïve ␣ –", "")]
)
def test_a_document_with_japanese_or_korean_says_what_its_font_needs(text: str, font: str) -> None:
    preamble = latex.document([latex.figure("a.pdf", text, "a", 85)]).partition(r"\begin{document}")
    lines = [line for line in preamble[0].splitlines() if "mainfont{" in line or "jfont{" in line]
    assert len(lines) == 2 * bool(font)
    assert all(line.startswith("% \\usepackage{") and font in line for line in lines)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ["decode", "beam", "speculative"])
def test_latex_compiles_the_document(name: str, tmp_path: Path) -> None:
    trace = replace(Trace.load(STORED / f"{name}.json"), prompt=HOSTILE, rendered_prompt="")
    if trace.hypotheses:
        first, *others = trace.hypotheses
        trace = replace(trace, method_record=SearchRecord((first._replace(text=HOSTILE), *others)))
    for path, content in opened(filled(trace)).items():
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    # A citation compiles in a paper without T1 fonts too.
    cited = latex.bibtex("".join(text for text, *_ in ADVERSARIAL) + HOSTILE)
    paper = rf"\documentclass{{article}}\begin{{document}}{cited}\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    for document in ("figures.tex", "paper.tex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", document]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "figures.pdf").stat().st_size > 10_000


def test_a_csv_holds_no_control_characters() -> None:
    frame = DataFrame({"to\x1bken": ["a\x1b[31m", "\x9b", "b\tc\n"], "p": [0.5] * 3})
    text = csv_file(frame, "a prompt\x07").decode("utf-8-sig")
    assert not {char for char in text if ord(char) < 32 or 127 <= ord(char) < 160} - set("\r\n\t")
    assert r"\x1b[31m" in text and "b\tc\n" in text


def test_captions_and_descriptions_have_the_prompts_own_marks() -> None:
    prompt = 'print("<b>") `x` costs $5'
    trace = replace(Trace.load(STORED / "decode.json"), prompt=prompt, rendered_prompt="")
    files = opened(filled(trace))
    captions = [path for path in files if path.endswith(".caption.txt")]
    assert captions and all(f"“{prompt}”" in files[path].decode() for path in captions)
    drawn = files[captions[0].replace(".caption.txt", ".svg")].decode()
    assert f"“{prompt}”" in unescape(drawn)
    assert r"\$5" in files["figures.tex"].decode() and r"\$5" in files["figures.md"].decode()
