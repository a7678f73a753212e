"""Evaluation reports: terminal, Markdown and HTML. What they say is decided in ``content.py``."""
