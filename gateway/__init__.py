"""The running whole: what watches a depot on one machine, and the ``vigia`` command. All below it is joined here."""
