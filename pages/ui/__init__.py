"""All that knows Streamlit: controls, session state, running, drawing and export."""
