"""What the start of a stack is made of: its processes, and the report of its parts."""
