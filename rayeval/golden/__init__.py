"""Questions and gold evidence: contract, load, and where in the documents the gold stands."""
