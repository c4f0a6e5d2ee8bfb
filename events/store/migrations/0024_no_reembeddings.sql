-- The command alone embeds everybody's modes again, and tells its progress itself.
DROP TABLE log.reembeddings;
