"""Fusion: the arms' lists of hits become one."""
