"""Gates: what must hold before a change may ship, and whether it does (DESIGN §8)."""
