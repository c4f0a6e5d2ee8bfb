-- name: people_tables
-- The tables of people of one generation. The search path names the schema of the generation. Who is whom is folded when
-- it is read (events.people.person), from handles, links and entries.

-- The events about people. The events themselves are in the log.
CREATE TABLE entries (
    user_id  text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (user_id, event_id)
);

-- The handles that each card names. `certain` is false when the word only looks like a name.
CREATE TABLE mentions (
    user_id  text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    handle   text COLLATE "C" NOT NULL, -- a folded name, "|", a tie
    name     text NOT NULL,
    roles    text[] NOT NULL,           -- author, subject, quoted, named, tied
    certain  boolean NOT NULL,
    said_at  timestamptz NOT NULL,
    turn_id  text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, event_id, handle)
);

-- The sum of the mentions of each handle.
CREATE TABLE handles (
    user_id  text COLLATE "C" NOT NULL,
    handle   text COLLATE "C" NOT NULL,
    name     text NOT NULL,
    certain  boolean NOT NULL,
    since    timestamptz NOT NULL,
    until    timestamptz NOT NULL,
    mentions integer NOT NULL,
    PRIMARY KEY (user_id, handle)
);

-- What a card says of two handles: they are one person, or two.
CREATE TABLE links (
    user_id  text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    one      text COLLATE "C" NOT NULL,
    other    text COLLATE "C" NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('stated', 'identity', 'answered', 'apart')),
    quote    text NOT NULL,
    PRIMARY KEY (user_id, one, other, kind, event_id)
);
ALTER TABLE mentions ALTER name SET STATISTICS 0;
ALTER TABLE links ALTER quote SET STATISTICS 0;

-- name: people_index_mentions_handle
CREATE INDEX mentions_handle ON mentions (user_id, handle, said_at DESC, event_id DESC);

-- name: people_analyze
ANALYZE entries, mentions, handles, links;

-- name: problems_tables
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

-- name: problems_index_problems_active
CREATE INDEX problems_active ON problems (user_id, priority) WHERE status = 'active';

-- name: problems_analyze
ANALYZE entries, problems;

-- name: references_tables
-- The tables of references of one generation. The search path names the schema of the generation.

-- The present value of each reference. `user_id` is the storage id of the owner: a user or a team.
CREATE TABLE objects (
    user_id      text COLLATE "C" NOT NULL,
    stream       text COLLATE "C" NOT NULL,
    reference_id uuid NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    project_id   text COLLATE "C",
    team_id      text COLLATE "C",
    version      bigint NOT NULL,
    data         json NOT NULL,
    rendering    text NOT NULL,
    tier         text NOT NULL CHECK (tier IN ('pinned', 'session', 'archive')),
    tier_reason  text,
    archived     boolean NOT NULL,
    moved_to     text,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    actor        text NOT NULL,
    partition    smallint NOT NULL,
    position     bigint NOT NULL,
    PRIMARY KEY (user_id, stream)
);
ALTER TABLE objects ALTER data SET STATISTICS 0, ALTER rendering SET STATISTICS 0;

-- Ops that prose asked for. The id is the event id of the proposal.
CREATE TABLE proposals (
    user_id     text COLLATE "C" NOT NULL,
    proposal_id uuid NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    project_id  text COLLATE "C",
    team_id     text COLLATE "C",
    op          json NOT NULL,
    confidence  real NOT NULL,
    quote       text NOT NULL,
    turn_ids    text[] NOT NULL,
    status      text NOT NULL CHECK (status IN ('waiting', 'applied', 'approved', 'refused')),
    proposed_at timestamptz NOT NULL,
    decided_at  timestamptz,
    decided_by  text,
    position    bigint NOT NULL,
    PRIMARY KEY (user_id, proposal_id)
);

-- The members of teams. `user_id` is the storage id of the team, `member` that of the user.
CREATE TABLE members (
    user_id text COLLATE "C" NOT NULL,
    member  text COLLATE "C" NOT NULL,
    team_id text COLLATE "C" NOT NULL,
    since   timestamptz NOT NULL,
    PRIMARY KEY (user_id, member)
);

-- The kinds that tenants declared. `user_id` is the storage id of the tenant.
CREATE TABLE kinds (
    user_id     text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    description text NOT NULL,
    schema      json NOT NULL,
    initial     json NOT NULL,
    declared_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, kind)
);

-- name: references_index_members_member
CREATE INDEX members_member ON members (member);

-- name: references_index_objects_owner
CREATE INDEX objects_owner ON objects (user_id, tier, kind, key) WHERE moved_to IS NULL;

-- name: references_index_proposals_waiting
CREATE INDEX proposals_status ON proposals (user_id, status, position);

-- name: references_analyze
ANALYZE objects, proposals, members, kinds;
