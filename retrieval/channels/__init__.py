"""The channels of recall: each one module and one statement, each able to be down without the others."""
