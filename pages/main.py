"""Script of every page: the frame that all pages share, around the open page."""

from __future__ import annotations

import streamlit as st

from core.installation import ASSETS
from core.language import tr
from pages.ui import platform, registry
from pages.ui.course import panel as lesson
from pages.ui.platform import fragments, guard, reader, shutdown, slot, unconfirmed
from pages.ui.resources import models
from pages.ui.run import address, changed, named_run, shared
from pages.ui.run.display import install_model
from pages.ui.run.files import save
from pages.ui.shell import boundary, browser, glossary, sidebar
from pages.ui.widgets import ahead, style
from pages.ui.widgets.controls import control, figure_choices, link

guard.guard_callbacks(fragments.reset)
unconfirmed.keep_set_values()
guard.explain_by(control.in_words)
guard.guard_pages()
reader.begin()
guard.begin_at_root()
fragments.reset()
ahead.invalidate()
st.set_page_config(
    page_title="Decoding Explorer",
    page_icon=str(ASSETS / "icons" / "mark.svg"),
    layout="wide",
    initial_sidebar_state="auto",
)
sections: dict[str, list[st.Page]] = {}
for row in registry.PAGES:
    entry = st.Page(
        row.script, title=tr(row.title), url_path=row.path or None, default=not row.path
    )
    sections.setdefault(tr(row.section), []).append(entry)
page = st.navigation(sections, position="top")
guard.remember_page()
row = registry.page_at(page.url_path)
style.use(row.slots)
link.remember(page.url_path)
row.load_controls.find()  # Declares the page's controls.
control.use_labels_of(row.package)
link.rename_old(page.url_path)
lesson.begin()
# The browser must know the page first: a rerun that these ask for would go to the first page.
browser.prepare(row.slots, registry.PUPIL_ITEM, registry.RESUME_CLASS)
glossary.draw()
lesson_side = lesson.side()
# The page must be known first: a rerun would lead to the first page.
for place in shared.slots(row.slots):
    with slot.use(place):
        link.check_address()
        sidebar.refuse_models(row.view)
named_run.refuse_elsewhere(row)
with st.sidebar:
    if row.slots == ("",):
        sidebar.show(
            prompt=not row.own_prompt,
            model=not row.own_model,
            below_model=lambda name: install_model.draw(row.view(), name, key="install"),
        )
    save.open_file(page.url_path)
    figure_choices.show()
    sidebar.language()
save.turn_to_file(page.url_path)
address.bring_back(page.url_path)
if st.session_state.pop("go_to_lab", False):
    registry.Named("lab.state:open_selected")()
    # Without `query_params` it would refuse to change an address that controls are bound to.
    st.switch_page(registry.page_of("lab").script, query_params={})
registry.SHOW_CLASS()
boundary.run(row, page.run)
lesson.draw(row, lesson_side)
lesson.write_address()
changed.write_addresses(row)
for place in shared.slots(row.slots):
    with slot.use(place):
        st.session_state.pop(platform.key(shared.RUN_EXAMPLE), None)
address.keep()
link.show_reports()
models.warm_up()
shutdown.watch()
