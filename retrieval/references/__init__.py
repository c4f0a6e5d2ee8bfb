"""References as readers see them: the present value, a past one, the history, and lists."""
