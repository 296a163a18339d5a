"""A class: anonymous pupils' guesses in lessons, counted live on the teacher's page."""
