"""Models that are asked by chat: what answers and judges share."""
