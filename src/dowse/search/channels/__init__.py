"""The channels that bring candidates: lexical, names, files, dense, phrases, frames, versions."""
