-- The messages to webhooks that are not delivered. They are no part of the log: a row names an event, and holds no words.
-- A delivered message leaves. `tried_at` is the last try, and `due_at` the next one.
CREATE TABLE log.deliveries (
    user_id    text COLLATE "C" NOT NULL,
    webhook_id uuid NOT NULL,
    partition  smallint NOT NULL,
    position   bigint NOT NULL,
    state      text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'dead')),
    attempts   integer NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL DEFAULT now(),
    tried_at   timestamptz,
    last_error text,
    PRIMARY KEY (user_id, webhook_id, position)
);
CREATE INDEX deliveries_due ON log.deliveries (due_at) WHERE state = 'pending';
SELECT log.protect('log.deliveries');
