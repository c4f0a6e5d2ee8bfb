"""Text of a turn that states no facts of its speaker: pasted text, role play, fiction."""
