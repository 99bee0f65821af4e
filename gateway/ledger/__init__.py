"""Watched time, folded from the journal: who watched, who did not, and what the record proves of each head."""
