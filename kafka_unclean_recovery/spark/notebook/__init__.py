"""A notebook gets log directories as a DataFrame, to be explored."""
