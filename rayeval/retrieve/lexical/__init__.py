"""Search by words: texts → terms → counts → statistics of the whole corpus → BM25."""
