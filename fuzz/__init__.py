"""Coverage-guided fuzzing of every reader of bytes that dowse did not write. Not part of the package.

``python -m fuzz`` runs the targets with atheris; a target by itself needs no more than dowse, so that the tests replay
the corpus through it.
"""
