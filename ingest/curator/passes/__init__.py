"""The passes of the curator: pure functions from a memory to proposals. A pass uses no clock, network or randomness."""
