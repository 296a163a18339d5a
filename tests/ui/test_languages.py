"""Pages in other languages: the reader's, by the address, the menu or the browser."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Greedy
from core.decoding.errors import ConfigError
from core.decoding.record.notes import RECOMPUTED, RECORDED, Note
from core.figures.base.paper import SCREEN
from core.figures.decode import durations
from core.language import Message, catalogue, tr, use
from pages.ui.decode.state import DecodeView
from pages.ui.platform import reader, session
from pages.ui.registry import DECODE, PAGES, Page, page_at
from pages.ui.run.jobs import Job
from pages.ui.run.work import BackgroundWork
from pages.ui.widgets.controls import control
from tests.figures.traces import make_trace
from tests.language.pseudo import OPEN, use_pseudo
from tests.ui.conftest import open_page
from tests.ui.readable import readable

MANY = page_at("many")
# A sentence in English: three words, or two that no list of names has.
_SENTENCE = re.compile(
    r"[A-Za-z]{3,}[;:]? [a-z]{2,}[,;:]? [a-z]{2,}"
    r"|\b[a-z]{3,} (?:of|is|are|the|and|or|with|by|from|to|in|than|that) "
)
# Texts of models and people, names, quotations and markup: no page translates these.
_ALLOWED = re.compile(
    r"Decoding Explorer|Once upon a time|embedded:\w+|smollm2|Hugging Face|`[^`]*`|<[^<>]*>|“[^”]*”"
    r"|「[^」]*」|(?s:<style>.*</style>)"
    r"|universal assisted generation"
    # Names of the ways of a stored plan, which a plan's author writes.
    r"|(greedy|speculative)\\?, one word · [\w\\: ]+"
    r"|(un)?processed prediction scores|log probabilities of the output tokens"
)
# Beginnings of texts that the models of the examples wrote.
_WRITTEN = re.compile(r"[\W\d]*(once upon|there was|one day|compute) ", re.IGNORECASE)
# Words in labels: names of settings, methods, formats, libraries and models, and units.
_NAMES = re.compile(
    r"Top-\S+|Min-[pk]|Tail-free|P-less|XTC|DRY|Typical-p|Mirostat|Adaptive-p|SynthID|DoLa|Gumbel"
    r"|n-gram|float32|bfloat16|GGUF|CSV|JSONL?|HTML|YAML|ZIP|TeX|PDF|PNG|SVG|Parquet|LaTeX|Plotly"
    r"|API|URL|KV|CDF|FLOPs|Best of N|transformers|vLLM|mlx-lm|llama\.cpp|OpenAI|English|Inside"
    r"|[a-z]+_[a-z_]+|min\(.*|max\(.*|Epsilon|ACL|NeurIPS|ICML|ICLR|AAAI|IEEE|Nature|Springer"
)
_WORD = re.compile(r"(?<![\w:.,/])[A-Za-z]{3,}")


def is_english(text: str, *, label: bool) -> bool:
    """Return whether a text of a page is English: a sentence, or a word of a label."""
    bare = _ALLOWED.sub("", text)
    if _SENTENCE.search(bare) and not _WRITTEN.match(text):
        return True
    return label and bool(_WORD.search(_NAMES.sub("", bare)))


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_page_has_no_english_text(row: Page, language: str) -> None:
    """Labels, options, heads, hints, captions and the words of figures; not a model's text."""
    app = open_page(row.script, {}, lang=language)
    found = {text for text, label in readable(app) if is_english(text, label=label)}
    assert sorted(found) == []


@pytest.mark.parametrize(
    ("text", "label", "english"),
    [
        ("column", True, True),
        ("metric", True, True),
        ("XTC しきい値", True, False),
        ("48 問: chains of 1,2,3 steps, seed 7", False, True),
        ("48 問: 1,2,3 ステップの連続計算、シード 7", False, False),
        ("probabilities follow from the logits", False, True),
        ("Once upon a time, there was a dreamy girl", False, False),
        ("{name} gave way at token 2", False, True),
    ],
)
def test_the_kinds_of_english_text_are_seen(text: str, label: bool, english: bool) -> None:
    assert is_english(text, label=label) is english


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_every_text_of_a_page_is_marked(row: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    use_pseudo(monkeypatch)
    texts = dict(readable(open_page(row.script, {}, lang="ja")))
    assert len(texts) > 10
    bare = [text for text in texts if OPEN not in text and is_english(text, label=False)]
    assert bare == []


def test_a_page_without_a_language_follows_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.session, "browser_locale", lambda: "ja-JP")
    assert open_page("course.py", {}).title[0].value == "コース"
    monkeypatch.setattr(reader.session, "browser_locale", lambda: "fr")
    assert open_page("course.py", {}).title[0].value == "Course"


def test_the_menu_changes_the_language_and_keeps_the_controls() -> None:
    app = open_page("home.py", {}, lang="ja")
    app.text_area(key="prompt").set_value("A new beginning").run()
    app.selectbox(key="language-menu").select("en").run()
    assert app.title[0].value == "See how a language model chooses its words"
    assert app.text_area(key="prompt").value == "A new beginning"
    assert "lang" not in app.query_params


@pytest.mark.parametrize(
    ("script", "key", "value"),
    [
        ("decode.py", "constraint", "regex"),
        ("decode.py", "draw", "gumbel"),
        ("speculative.py", "draft", "prompt_lookup"),
    ],
)
def test_a_menu_keeps_its_value_when_the_language_changes(
    script: str, key: str, value: str
) -> None:
    app = open_page(script, {}, **{key: value})
    english = _label_in(app, key)
    app.selectbox(key="language-menu").select("ja").run()
    menu = app.selectbox(key=key).proto
    assert menu.set_value and menu.raw_value in menu.options and menu.raw_value != english
    # A browser that missed the new label sends the one that it has.
    states = app._tree.get_widget_states()
    (state,) = (state for state in states.widgets if state.id == menu.id)
    state.string_value = english
    assert not app._run(states).exception
    assert app.session_state[key] == value
    assert app.query_params[key] == value
    assert app.selectbox(key=key).proto.raw_value == menu.raw_value


def _label_in(app: AppTest, key: str) -> str:
    """Return the label of a menu's value that the browser holds and sends."""
    menu = app.selectbox(key=key)
    states = app._tree.get_widget_states().widgets
    return next(state.string_value for state in states if state.id == menu.id)


def test_the_open_tab_stays_open_when_the_language_changes() -> None:
    app = open_page("inside.py", {}, inside_look="modules")
    app.selectbox(key="language-menu").select("ja").run()
    assert app.query_params["inside_look"] == "modules"
    with use("ja"):
        assert app.session_state["inside_look"] == tr("Modules")


def test_segments_are_sent_again_when_the_language_changes() -> None:
    app = open_page("decode.py", {}, color="entropy")
    app.selectbox(key="language-menu").select("ko").run()
    (segments,) = (group for group in app.get("button_group") if group.key == "color")
    with use("ko"):
        assert list(segments.proto.raw_values) == [tr("Entropy")]
    assert segments.proto.set_value


def test_another_seed_stays_chosen_when_the_language_changes() -> None:
    def menu() -> None:
        import streamlit as st

        from core.language import tr
        from pages.ui.platform import reader
        from pages.ui.widgets.controls.options import resend

        reader.begin()
        resend("token")
        labels = {1: "one", -1: tr("no token: another seed from this step on")}
        st.selectbox("Candidate", list(labels), format_func=labels.__getitem__, key="token")

    app = AppTest.from_function(menu).run()
    app.selectbox(key="token").select(-1).run()
    app.session_state["language_chosen"] = "ja"
    app.run()
    assert app.selectbox(key="token").proto.set_value and app.session_state["token"] == -1


def named_as_on(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a session show the page."""
    page.load_controls.find()
    monkeypatch.setattr(session, "current", lambda: "session")
    monkeypatch.setattr(st, "session_state", {})
    control.use_labels_of(page.package)


@pytest.mark.parametrize("order", [(DECODE, MANY), (MANY, DECODE)], ids=["decode", "many"])
def test_an_error_names_a_setting_as_the_page_does(
    order: tuple[Page, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError) as refusal:
        Greedy(max_new_tokens=0)
    for page in order:
        named_as_on(page, monkeypatch)
        name = "New tokens" if page is DECODE else "Tokens"
        assert control.in_words(refusal.value).startswith(f"{name} must lie in")


def test_a_failure_is_told_in_the_language_of_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    named_as_on(DECODE, monkeypatch)

    def start() -> Job:
        Greedy(max_new_tokens=0)
        raise AssertionError

    work = BackgroundWork()
    assert not work.attempt("decode", start)
    failure = work.failures["decode"]
    assert failure == tr(failure) and failure.startswith("New tokens must lie in")
    copied = pickle.loads(pickle.dumps(failure))
    with use("ja"):
        label = tr("New tokens")
        assert label != "New tokens"
        assert tr(failure).startswith(label) and tr(copied) == tr(failure)


def test_notes_on_a_run_are_told_in_the_language_of_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = DecodeView()
    monkeypatch.setattr(view, "begin", lambda *_: None)
    view.open(replace(make_trace(3), notes=RECORDED))
    assert view.failure == " ".join(note.words for note in RECORDED)
    for language in ("ja", "ko"):
        with use(language):
            words = [tr(note.words) for note in RECORDED]
            assert tr(view.failure) == tr("{one} {other}", one=words[0], other=words[1])
            assert words[0] != RECORDED[0].words


def test_a_figure_s_caption_translates_the_notes_of_its_run() -> None:
    words = Message(
        "The key-value cache was computed anew before token {token}: from "
        "{length} tokens on, this model's position embeddings are others.",
        token=2,
        length=3,
    )
    trace = replace(make_trace(3), notes=(Note(RECOMPUTED, words),))
    with use("ja"):
        caption = durations._captions([("run", trace)], SCREEN)
        assert tr(words) != words and tr(words) in caption


def test_a_session_speaks_its_own_language() -> None:
    assert open_page("course.py", {}, lang="ko").title[0].value == "코스"
    assert open_page("course.py", {}).title[0].value == "Course"
    assert catalogue.current() == "en"


def test_the_language_of_an_earlier_visit_counts_until_another_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(st.context), "cookies", {reader.COOKIE: "ko"})
    assert open_page("course.py", {}).title[0].value == "코스"
    assert open_page("course.py", {}, lang="ja").title[0].value == "コース"
    monkeypatch.setattr(type(st.context), "cookies", {reader.COOKIE: "<script>"})
    app = open_page("course.py", {})
    assert app.title[0].value == "Course"
    app.selectbox(key="language-menu").select("ja").run()
    assert app.title[0].value == "コース"
