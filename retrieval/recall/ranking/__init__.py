"""From the votes of the channels to the places of an answer."""
