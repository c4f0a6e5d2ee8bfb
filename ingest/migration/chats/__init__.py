"""Readers of exported chats. Each reads its file as a stream and yields the messages as turns."""
