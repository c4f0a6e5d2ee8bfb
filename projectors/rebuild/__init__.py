"""Folding a projection anew beside the live one, and swapping it in."""
