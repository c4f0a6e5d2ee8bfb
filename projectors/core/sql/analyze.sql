ANALYZE documents, snapshots, changes, queue, card_statements, card_remarks;
