"""Statistics on columns: paired cluster bootstrap, permutation, exact limits, corrections, power.

Plain functions of arrays that know nothing of runs. Questions that share a document are not
independent, so the unit that is drawn, flipped or left out is always the cluster (DESIGN §8).
"""
