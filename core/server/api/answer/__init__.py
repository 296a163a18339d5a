"""Write answers: one record, and a writer for each API."""
