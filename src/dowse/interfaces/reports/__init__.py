"""An evaluation for people: on a terminal, as Markdown, as one HTML page. What they say is decided in ``said``."""
