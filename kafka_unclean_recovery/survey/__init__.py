"""The one way to ask a live cluster: who lives, who answered, and what that rests on."""
