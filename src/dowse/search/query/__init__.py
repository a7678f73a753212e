"""What a query says: its syntax, its words, other words for them, stack traces in it."""
