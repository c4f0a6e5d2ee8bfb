"""How the schema of a document grows: topics that recur become categories, and old pointers keep their meaning."""
