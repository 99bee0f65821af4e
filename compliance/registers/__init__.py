"""The registers of a depot (stock, extinguishers, documents, containers ...), folded from entries never changed.

Pure: entries in, the state at any date out, as known then or as known now. Where entries are kept is not known here.
"""
