"""Server parts that the pages and the endpoint share; no Streamlit."""
