"""A judge held against people: how far its labels are theirs, and what that allows."""

from rayeval.calibration.calibrated import calibrated
from rayeval.calibration.labels import Scale, pair_labels

__all__ = ["Scale", "calibrated", "pair_labels"]
