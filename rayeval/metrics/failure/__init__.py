"""Where every question first lost what it needs (DESIGN §6)."""
