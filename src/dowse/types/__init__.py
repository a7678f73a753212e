"""Data types that cross stages (value objects). Values only: nothing here reads a file or decides anything.

Rows made by the thousand (entities, chunks, hits) and what every query makes (results, the parsed query) are named
tuples, which cost a third of a frozen dataclass to build; everything else is a frozen, slotted dataclass. A module for
each subject, so that a command imports only what it needs.
"""
