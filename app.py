"""Decoding Explorer: the entry of the app, with what its pages are served behind."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.decoding.errors import ConfigError
from pages.ui.hosting import endpoint, pictures, serving, start_page
from pages.ui.platform import chart_script
from pages.ui.widgets import ahead

# Its top-level names become environment variables, which settings are read from.
st.secrets.load_if_toml_exists()

try:
    app = st.App(
        Path(__file__).parent / "pages" / "main.py",
        routes=[
            *endpoint.endpoint_routes(),
            *start_page.routes(),
            *chart_script.routes(),
            *pictures.routes(),
            *ahead.routes(),
        ],
        middleware=serving.middleware(),
        lifespan=serving.lifespan,
    )
except ConfigError as error:
    raise SystemExit(str(error)) from None
