"""Checks, measures and extends a term graph (synonyms): is it consistent, does it help, what is missing?"""
