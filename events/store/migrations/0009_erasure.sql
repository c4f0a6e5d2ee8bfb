-- Erasures and rules of retention. The schema holds ids, digests, counts and times, and never words of users.
CREATE SCHEMA erasure;

-- One row for each user of an erasure. The event SubjectErased in the log has the same facts. `events` are the erased
-- events, or NULL for every event of the user up to the event of the erasure.
CREATE TABLE erasure.tombstones (
    user_id    text COLLATE "C" NOT NULL,
    erasure_id uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('user', 'person', 'turn', 'before')),
    subject    text NOT NULL,
    erased_by  text NOT NULL,
    reason     text NOT NULL,
    events     uuid[],
    partition  smallint NOT NULL,
    position   bigint NOT NULL,        -- of the event SubjectErased
    before     bytea NOT NULL,         -- the digest of the partition's head before the event, and after it
    after      bytea NOT NULL,
    counts     jsonb NOT NULL,         -- what went, by name of the table
    began_at   timestamptz NOT NULL,
    erased_at  timestamptz NOT NULL,
    queue_at   timestamptz,            -- when the queue was clean; NULL: Redis was away, and the queue is still to clean
    scrubbed_at timestamptz,           -- when the bytes were gone from the files; NULL: not yet
    PRIMARY KEY (user_id, erasure_id)
);
CREATE INDEX tombstones_erasure ON erasure.tombstones (erasure_id);
CREATE INDEX tombstones_open ON erasure.tombstones (erased_at) WHERE queue_at IS NULL OR scrubbed_at IS NULL;

-- How many days turns are kept, by tenant and mode. The mode '*' is every mode without a rule of its own.
CREATE TABLE erasure.retention (
    tenant    text COLLATE "C" NOT NULL,
    mode      text COLLATE "C" NOT NULL,
    keep_days integer NOT NULL CHECK (keep_days BETWEEN 1 AND 36500),
    ran_at    timestamptz,             -- when turns were last erased for the rule
    PRIMARY KEY (tenant, mode)
);
REVOKE ALL ON ALL TABLES IN SCHEMA erasure FROM PUBLIC;
