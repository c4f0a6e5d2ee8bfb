"""Longitudinal recall: long histories told turn by turn, asked again and again as they grow older."""
