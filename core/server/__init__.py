"""What any server of the project needs, whatever serves the pages."""
