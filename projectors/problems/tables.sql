-- name: tables
-- The tables of problems of one generation. The search path names the schema of the generation.

-- The events that the problems of a user are folded from. The events themselves are in the log.
CREATE TABLE entries (
    user_id  text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (user_id, event_id)
);

-- The present state of each problem. `problem_id` is the event id of its opening.
CREATE TABLE problems (
    user_id     text COLLATE "C" NOT NULL,
    problem_id  uuid NOT NULL,
    project_id  text COLLATE "C" NOT NULL,
    mode        text,
    description text NOT NULL,
    status      text NOT NULL CHECK (status IN ('active', 'closed')),
    priority    smallint NOT NULL CHECK (priority BETWEEN 1 AND 10),
    since       timestamptz NOT NULL, -- the user had it from then
    until       timestamptz,          -- and until then
    opened_at   timestamptz NOT NULL, -- these three are times of the log
    updated_at  timestamptz NOT NULL,
    closed_at   timestamptz,
    resolution  text,
    attempts    json NOT NULL,   -- [{"attempt_id", "date", "approach", "outcome", "successful", "turn_ids"}] by date
    turn_ids    text[] NOT NULL,
    version     integer NOT NULL,
    position    bigint NOT NULL, -- of its latest event
    PRIMARY KEY (user_id, problem_id),
    CHECK ((status = 'active') = (closed_at IS NULL)),
    CHECK ((until IS NULL) = (closed_at IS NULL))
);
ALTER TABLE problems ALTER attempts SET STATISTICS 0, ALTER description SET STATISTICS 0;

-- name: index_problems_active
CREATE INDEX problems_active ON problems (user_id, priority) WHERE status = 'active';

-- name: analyze
ANALYZE entries, problems;
