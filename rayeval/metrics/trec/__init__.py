"""What trec_eval measures, as it measures it (DESIGN §5)."""
