"""The Chinese patterns of the rules extractor."""
