-- Distributes the card tables over the workers of a Citus cluster, by user. Run it once on the coordinator, after the
-- first `cardlog up` or `cardlog work projector` has created the tables, and before they hold much data:
--
--     psql "$CARDLOG_ADMIN_DATABASE_URL" -v ON_ERROR_STOP=1 --single-transaction -f deploy/citus/citus.sql
--
-- This file also lists every table with its kind under Citus. A test compares the list with the catalog, so no table is
-- missing, and no table gets a key that prevents its distribution. See docs/operating/scaling.md.

-- Distributed by user: all rows of one user are on one worker, and every statement about cards names the user.
SELECT create_distributed_table('cards.cards', 'user_id', colocate_with => 'none');
SELECT create_distributed_table('cards.statements', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.remarks', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.arbitrations', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.card_update_log', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.tag_aliases', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.relations', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.card_counts', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.ties', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.person_events', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('cards.words', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('vectors.card_vectors_384', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('vectors.card_vectors_768', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('vectors.card_vectors_1024', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('vectors.pending_vectors', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('vectors.reembeddings', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('references.objects', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('references.proposals', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('references.members', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('references.kinds', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('problems.entries', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('problems.problems', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('people.entries', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('people.mentions', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('people.handles', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('people.links', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.documents', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.snapshots', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.changes', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.queue', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.card_statements', 'user_id', colocate_with => 'cards.cards');
SELECT create_distributed_table('core.card_remarks', 'user_id', colocate_with => 'cards.cards');

-- Local to the coordinator: these tables are unchanged. "partition" after the name means that every key of the table
-- holds the partition, which is a function of the user. Such a table could be distributed by partition.
-- local log.events (partition): a position is unique in its partition, and appending locks heads of several partitions
-- local log.heads (partition): the row an append locks must be where the events are
-- local log.checkpoints (partition): moved by compare-and-swap together with what was folded, next to the log
-- local log.parked (partition): refers to the checkpoint that passed the event
-- local log.dropped (partition): read together with the log, and small
-- local log.deliveries (user_id): messages to webhooks that wait; claimed over all users by the time that they are due
-- local log.reference_use (user_id): counts of reads; joined with the references of all users when tiers are reviewed
-- local log.card_use (user_id): counts of answers; written in batches of many users
-- local log.answer_use (user_id): counts of answers by day; written with log.card_use
-- local log.token_key: one row, read by every service
-- local log.tenant_key: one row, which checks the proof of a tenant in every statement
-- local log.blueprints: the scripts of the folded tables
-- local vectors.blocked_slots: a few rows about embedders that fail; the same for all users
-- local vectors.spaces: a few rows about embedders, read with every search; the same for all users
-- local log.operations (user_id): what operators asked for; claimed over all users by time
-- local log.generations: a few rows about schemas; read by every statement that looks for the live generation
-- local log.heartbeats: what each worker last said of itself; no user's
-- local log.migrations: what was applied to this database
