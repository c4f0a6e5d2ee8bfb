"""The capacity model: what a load needs, what runs out first, and the measured numbers behind both."""
