"""rayeval: prove that a change to a retrieval pipeline helped, for which questions, and where."""

__version__ = "0.1.0"
