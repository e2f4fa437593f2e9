"""What a person sees and types: the streams, and how texts, progress and help are laid out."""
