"""The English patterns of the rules extractor."""
