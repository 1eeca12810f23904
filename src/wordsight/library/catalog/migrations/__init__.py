"""The history of the catalogue's tables; each file in ``versions`` leads from one to the next."""
