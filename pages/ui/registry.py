"""Registry of the app's pages; a new page needs a folder, a script and a row here.

A row names the page's functions and modules, which are imported on their first use: the first
paint needs one page, not all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from core.decoding.shaping.config import LISTED
from core.language import N_, Message


@dataclass(frozen=True, slots=True)
class Named:
    """A function or a module by its name below `pages.ui`, as `beam.state:BeamView.current`."""

    name: str

    def find(self) -> Any:
        """Import the function or module."""
        return resolve_name(f"pages.ui.{self.name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Import the function and call it."""
        return self.find()(*args, **named)


@dataclass(frozen=True, slots=True)
class Page:
    """A page; the defaults are those of Decode.

    Args:
        path: path in the address; empty for Home.
        title: title in the navigation.
        summary: one sentence that begins with the title, for README and the gallery.
        script: file name of the page's script, in the folder of `pages/main.py`.
        shows: the methods whose traces it shows, or `lab` for steps of the lab.
        view: returns the session's view of the page; its `open` shows the content of a file, its
            `failure` is shown on the page.
        load_controls: sets the page's controls to the settings in a file's content.
        saved: the module that exports a view and its trace: as a web page (`web_page`), as figures
            (`parts`, for a paper too) and as `tables`.
        run_controls: the controls that make a run; None if the page can't repeat a run.
        own_prompt: the page has its own questions, so the sidebar shows no prompt.
        own_model: the page has its own menu of models, so the sidebar shows none.
        slots: prefixes of the names of its runs; a run with a prefix has its own model, prompt and
            seed, and the sidebar shows none.
        stored: returns the web page of the stored example if it is no trace; None for a page
            without such an example.
        section: menu of the navigation that holds the page; empty for its row.
    """

    path: str
    title: str
    summary: str
    script: str
    shows: tuple[str, ...] = ()
    view: Named = Named("decode.state:DecodeView.current")
    load_controls: Named = Named("decode.controls:load_controls")
    saved: Named = Named("decode.save")
    run_controls: Named | None = Named("decode.controls:RUN_CONTROLS")
    own_prompt: bool = False
    own_model: bool = False
    slots: tuple[str, ...] = ("",)
    stored: Named | None = None
    section: str = ""

    @property
    def package(self) -> str:
        """Package of the page's own modules, with the dot after it."""
        return f"pages.ui.{self.load_controls.name.partition('.')[0]}."

    @property
    def name(self) -> str:
        """Name of the page's files and pictures, which is its path."""
        return self.path or "home"

    @property
    def repeats_run(self) -> bool:
        """True if `run` in the address names a run that the page makes again."""
        return self.run_controls is not None and self.slots == ("",) and "lab" not in self.shows

    @property
    def links_runs(self) -> bool:
        """True if a link repeats the shown run; otherwise the address alone restores the page."""
        return self.run_controls is not None and not self.own_prompt


# Menus of the navigation; pages without one stand in its row.
_LEARN, _RUNS, _BUILDERS = N_("Learn"), N_("Runs and texts"), N_("For builders")
INSIDE = Page(
    "inside",
    N_("Inside"),
    N_(
        "Inside follows a run from prompt to text: functions, shapes, modules, "
        "the KV cache, the logit lens, attention."
    ),
    "inside.py",
    view=Named("inside.state:InsideView.current"),
    load_controls=Named("inside.controls:load_controls"),
    run_controls=Named("inside.controls:RUN_CONTROLS"),
    section=_BUILDERS,
)
COMPARE = Page(
    "compare",
    N_("Compare"),
    N_(
        "Compare shows two runs side by side: what differs in their settings, "
        "where their texts part, and why."
    ),
    "compare.py",
    view=Named("compare.state:SideView.current"),
    load_controls=Named("compare.controls:load_controls"),
    run_controls=Named("compare.controls:RUN_CONTROLS"),
    slots=("a_", "b_"),
    stored=Named("compare.save:stored_page"),
    section=_RUNS,
)
# Opens two runs of other pages on Compare.
OPEN_PAIR = Named("compare.state:open_pair")
SESSION_RUN = Named("compare.state:SessionRun")
READ = Page(
    "read",
    N_("Read"),
    N_(
        "Read shows how much each token of your own text surprises a model, "
        "which token it expected instead, and the perplexity."
    ),
    "read.py",
    view=Named("read.state:ReadView.current"),
    load_controls=Named("read.controls:load_controls"),
    saved=Named("read.save"),
    run_controls=Named("read.controls:RUN_CONTROLS"),
    own_prompt=True,
    stored=Named("read.save:stored_page"),
    section=_RUNS,
)
DECODE = Page(
    "decode",
    N_("Decode"),
    N_(
        "Decode runs greedy decoding, sampling, contrastive search or "
        "contrastive decoding on a prompt. Click a token to see its candidates, "
        "what each filter removed, and where the random number fell."
    ),
    "decode.py",
)
# Links to Decode had the address that Home has now: the names of Decode's parameters, and the
# parameter by which a link to Home with other parameters is known.
DECODE_PARAMETERS = Named("decode.controls:parameters")
HOME_MARK = "home"
HOME = Page(
    "",
    N_("Home"),
    N_(
        "Home runs one prompt with every decoder, and merges the texts into one "
        "tree with the log-probability, the forward passes and the seconds of "
        "each."
    ),
    "home.py",
    view=Named("home.state:HomeView.current"),
    load_controls=Named("home.controls:load_controls"),
    run_controls=None,
    own_prompt=True,
    stored=Named("home.save:stored_page"),
)
COURSE = Page(
    "course",
    N_("Course"),
    N_(
        "Course teaches decoding in short lessons beside the real pages: each "
        "asks for a guess first, then shows what the model does."
    ),
    "course.py",
    view=Named("course.state:Course.current"),
    load_controls=Named("course.page:load_controls"),
    run_controls=None,
    own_prompt=True,
    section=_LEARN,
)
CLASS = Page(
    "class",
    N_("Class"),
    N_(
        "Class counts the guesses of up to 200 anonymous pupils in a lesson, "
        "live on the teacher's page."
    ),
    "classroom.py",
    view=Named("classroom.state:ClassView.current"),
    load_controls=Named("classroom.controls:load_controls"),
    run_controls=None,
    own_prompt=True,
    section=_LEARN,
)
# Joins the class that the address names, and says so on every page.
SHOW_CLASS = Named("classroom.membership:show")
# Goes on with the class that the browser has stored under the name.
RESUME_CLASS, PUPIL_ITEM = Named("classroom.membership:resume"), "decoding-explorer-pupil"
# Opens a run of another page on Inside, at its step.
OPEN_INSIDE = Named("inside.state:open_run")
# Continues from a token on another page with a run on Decode.
GO_ON = Named("decode.another:go_on_from")
PAGES = (
    HOME,
    DECODE,
    COURSE,
    Page(
        "sampling",
        N_("Sampling lab"),
        Message(
            "Sampling lab holds one step and its random number still, while {listed} "
            "samplers act on its logits in the order of transformers, vLLM, mlx-lm "
            "or llama.cpp.",
            listed=len(LISTED),
        ),
        "sampling.py",
        shows=("lab",),
        view=Named("lab.state:Lab.current"),
        load_controls=Named("lab.controls:load_controls"),
        stored=Named("lab.save:stored_page"),
    ),
    Page(
        "beam",
        N_("Beam search"),
        N_(
            "Beam search draws the tree from stored backpointers: which paths were "
            "kept, pruned and finished, and what a guess of the parents gets wrong."
        ),
        "beam.py",
        shows=("beam",),
        view=Named("beam.state:BeamView.current"),
        load_controls=Named("beam.controls:load_controls"),
        saved=Named("beam.save"),
        run_controls=Named("beam.controls:RUN_CONTROLS"),
    ),
    Page(
        "speculative",
        N_("Speculative"),
        N_(
            "Speculative decoding with a draft model: accepted and rejected drafts, "
            "the acceptance test, the time of each stage, and whether the target's "
            "distribution is kept."
        ),
        "speculative.py",
        shows=("speculative",),
        view=Named("speculative.state:SpecView.current"),
        load_controls=Named("speculative.controls:load_controls"),
        saved=Named("speculative.save"),
        run_controls=Named("speculative.controls:RUN_CONTROLS"),
    ),
    Page(
        "reasoning",
        N_("Reasoning budget"),
        N_(
            "Reasoning budget limits how many tokens a model may think, and measures "
            "accuracy against that budget."
        ),
        "reasoning.py",
        shows=("reasoning",),
        view=Named("reasoning.state:ReasonView.current"),
        load_controls=Named("reasoning.problem:load_controls"),
        saved=Named("reasoning.save"),
        run_controls=Named("reasoning.problem:RUN_CONTROLS"),
        own_prompt=True,
    ),
    COMPARE,
    Page(
        "diffusion",
        N_("Diffusion"),
        N_(
            "Diffusion fills a canvas of masks in an order of its own: why each "
            "token came when it did, its rivals, what was masked again, and where "
            "two tokens of one step don't fit together."
        ),
        "diffusion.py",
        shows=("diffusion",),
        view=Named("diffusion.state:DiffusionView.current"),
        load_controls=Named("diffusion.controls:load_controls"),
        saved=Named("diffusion.save"),
        run_controls=Named("diffusion.controls:RUN_CONTROLS"),
        own_model=True,
        section=_RUNS,
    ),
    Page(
        "many",
        N_("Many runs"),
        N_(
            "Many runs repeats one prompt up to 100 times, or over a grid of two "
            "settings, and shows where the texts part: by the dice, by a setting, or "
            "by rounding."
        ),
        "many.py",
        view=Named("many.state:ManyView.current"),
        load_controls=Named("many.controls:load_controls"),
        run_controls=None,
        stored=Named("many.save:stored_page"),
        section=_RUNS,
    ),
    READ,
    CLASS,
    INSIDE,
    Page(
        "evaluate",
        N_("Evaluate"),
        N_(
            "Evaluate asks the same questions with several methods, models or "
            "templates, and compares the answers with confidence intervals and "
            "paired tests."
        ),
        "evaluate_ways.py",
        view=Named("evaluate.state:EvaluateView.current"),
        load_controls=Named("evaluate.controls:load_controls"),
        run_controls=None,
        own_prompt=True,
        stored=Named("evaluate.files:stored_page"),
        section=_BUILDERS,
    ),
    Page(
        "requests",
        N_("Requests"),
        N_(
            "Requests shows each call of the OpenAI-compatible endpoint while it is "
            "decoded, and draws answers of other servers."
        ),
        "api_requests.py",
        view=Named("requests.state:RequestsView.current"),
        load_controls=Named("requests.controls:load_controls"),
        run_controls=None,
        section=_BUILDERS,
    ),
)


def page_at(path: str) -> Page:
    """Return the page at a path of the address; Home for an unknown path."""
    return next((page for page in PAGES if page.path == path), HOME)


def page_of(shown: str) -> Page:
    """Return the page for traces of a method, or for steps of the `lab`; Decode by default."""
    return next((page for page in PAGES if shown in page.shows), DECODE)
