"""The JSON that is written and read, as types: schemas/ is generated from them."""
