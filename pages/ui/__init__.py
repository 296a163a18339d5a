"""Streamlit part of the app: controls, session state, running, drawing and export."""
