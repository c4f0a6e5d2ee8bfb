"""The capacity model: what a load needs, what each scaling step carries, and the measured numbers behind both."""
