"""Query understanding: query language parser, analysis, keyword extraction, synonyms, rewriting, stack traces."""
