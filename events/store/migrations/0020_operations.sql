-- What operators asked the workers of projections to do. They are no part of the log: a rebuild or a retry changes no event.
-- `user_id` is empty for an operation on generations. `generation` is the one that a rebuild shall replace, that a swap shall
-- make live, or that shall be dropped. `event_id` stands first in the queue that is retried or loses an event. Both make a
-- repeated operation one operation.
CREATE TABLE log.operations (
    operation_id uuid NOT NULL,
    user_id      text COLLATE "C" NOT NULL DEFAULT '',
    action       text COLLATE "C" NOT NULL
                 CHECK (action IN ('rebuild', 'swap', 'drop_generation', 'retry_parked', 'drop_parked')),
    projection   text COLLATE "C" NOT NULL,
    generation   integer,
    event_id     uuid,
    verify       boolean NOT NULL DEFAULT false,
    because      text,
    requested_by text,
    requested_at timestamptz NOT NULL DEFAULT now(),
    attempts     smallint NOT NULL DEFAULT 0,
    stage        text,
    share        real NOT NULL DEFAULT 0,
    failed       boolean,
    outcome      text,
    done_at      timestamptz,
    PRIMARY KEY (user_id, operation_id)
);
CREATE UNIQUE INDEX operations_open ON log.operations (projection, user_id) WHERE done_at IS NULL;
CREATE INDEX operations_by_time ON log.operations (requested_at);
SELECT log.protect('log.operations');
