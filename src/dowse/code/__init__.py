"""Source code analysis: language detection, tree-sitter parsing, symbols, references, chunking, tokenizer, secrets.

Pure functions on text: nothing here opens a file or a database.
"""
