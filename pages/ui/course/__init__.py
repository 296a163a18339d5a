"""The course: lessons beside the pages, that ask before they show."""
