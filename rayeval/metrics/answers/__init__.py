"""What answers are worth: by their words, claims, citations and refusals (DESIGN §7)."""
