"""All that knows Streamlit's internals."""
