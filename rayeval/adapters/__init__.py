"""Results of other libraries as hits; none of them needs to be installed."""
