"""The channels of recall. Each channel is one module, and each can fail without the others."""
