"""The pages of the app, one row a page; a new page is its folder, its script and its row.

A row names what belongs to its page, which is imported when it is called: the first paint needs
one page, not all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any


@dataclass(frozen=True, slots=True)
class Named:
    """A function or a module by its name below `pages.ui`, as `beam.state:BeamView.current`."""

    name: str

    def find(self) -> Any:
        """Import it."""
        return resolve_name(f"pages.ui.{self.name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Import the function and call it."""
        return self.find()(*args, **named)


@dataclass(frozen=True, slots=True)
class Page:
    """A page; what its row leaves out is as on the first page.

    Args:
        path: in the address; empty for the first page.
        title: in the navigation.
        script: what Streamlit runs, beside `pages/main.py`.
        shows: the methods whose traces it shows, or `lab` for steps of the lab.
        view: returns what this session looks at on the page; its `open` shows the content of a
            file, its `failure` is shown on the page.
        load_controls: sets the page's controls to the settings in a file's content.
        saved: the module that makes what leaves, of a view and its trace: the saved page
            (`web_page`), its figures (`parts`, of a paper too) and their `tables`.
        run_controls: the controls that make a run; None where nothing on the page is run again.
        own_prompt: it asks questions of its own, so the sidebar shows no prompt.
        slots: prefixes of the names of its runs; with one each run has a prompt of its own.
    """

    path: str
    title: str
    script: str
    shows: tuple[str, ...] = ()
    view: Named = Named("decode.state:DecodeView.current")
    load_controls: Named = Named("decode.controls:load_controls")
    saved: Named = Named("decode.save")
    run_controls: Named | None = Named("decode.controls:RUN_CONTROLS")
    own_prompt: bool = False
    slots: tuple[str, ...] = ("",)

    @property
    def links_runs(self) -> bool:
        """Whether a link makes the shown run again; else the address alone restores the page."""
        return self.run_controls is not None and not self.own_prompt


INSIDE = Page(
    "inside",
    "Inside",
    "inside.py",
    view=Named("inside.state:InsideView.current"),
    load_controls=Named("inside.controls:load_controls"),
    run_controls=Named("inside.controls:RUN_CONTROLS"),
)
# From a run on another page to its step on this one.
OPEN_INSIDE = Named("inside.state:open_run")
PAGES = (
    Page("", "Decode", "decode.py"),
    Page(
        "sampling",
        "Sampling lab",
        "sampling.py",
        shows=("lab",),
        view=Named("lab.state:Lab.current"),
        load_controls=Named("lab.controls:load_controls"),
    ),
    Page(
        "beam",
        "Beam search",
        "beam.py",
        shows=("beam",),
        view=Named("beam.state:BeamView.current"),
        load_controls=Named("beam.controls:load_controls"),
        saved=Named("beam.save"),
        run_controls=Named("beam.controls:RUN_CONTROLS"),
    ),
    Page(
        "speculative",
        "Speculative",
        "speculative.py",
        shows=("speculative",),
        view=Named("speculative.state:SpecView.current"),
        load_controls=Named("speculative.controls:load_controls"),
        saved=Named("speculative.save"),
        run_controls=Named("speculative.controls:RUN_CONTROLS"),
    ),
    Page(
        "reasoning",
        "Reasoning budget",
        "reasoning.py",
        shows=("reasoning",),
        view=Named("reasoning.state:ReasonView.current"),
        load_controls=Named("reasoning.problem:load_controls"),
        saved=Named("reasoning.save"),
        run_controls=Named("reasoning.problem:RUN_CONTROLS"),
        own_prompt=True,
    ),
    INSIDE,
    Page(
        "evaluate",
        "Evaluate",
        "evaluate_ways.py",
        view=Named("evaluate.state:EvaluateView.current"),
        load_controls=Named("evaluate.controls:load_controls"),
        run_controls=None,
        own_prompt=True,
    ),
    Page(
        "requests",
        "Requests",
        "api_requests.py",
        view=Named("requests.state:RequestsView.current"),
        load_controls=Named("requests.controls:load_controls"),
    ),
)


def page_at(path: str) -> Page:
    """The page at a path of the address; the first one for any other path."""
    return next((page for page in PAGES if page.path == path), PAGES[0])


def page_of(shown: str) -> Page:
    """The page that shows traces of a method, or steps of the `lab`; the first one by default."""
    return next((page for page in PAGES if shown in page.shows), PAGES[0])
