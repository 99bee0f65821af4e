"""The compliance history on paper and in tables."""
