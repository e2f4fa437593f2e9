"""Log directories as a DataFrame, to be explored."""
