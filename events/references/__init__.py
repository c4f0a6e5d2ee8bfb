"""References: named, typed cells of mutable state. A kind says what a cell may hold and which ops change it."""
