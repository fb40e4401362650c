"""Search by meaning: embeddings, exact search over them, approximate indexes."""
