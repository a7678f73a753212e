"""What becomes of ranked candidates: definitions to show, a token budget, explanations, similar places."""
