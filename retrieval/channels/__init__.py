"""The channels of recall. Each can fail without the others."""
