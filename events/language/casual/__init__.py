"""Casual spelling, as people write in chats."""
