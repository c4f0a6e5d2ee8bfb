"""How Cardlog is run: the command, the embedded services, the stack."""
