-- name: tables
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

-- name: index_members_member
CREATE INDEX members_member ON members (member);

-- name: index_objects_owner
CREATE INDEX objects_owner ON objects (user_id, tier, kind, key) WHERE moved_to IS NULL;

-- name: index_proposals_waiting
CREATE INDEX proposals_status ON proposals (user_id, status, position);

-- name: analyze
ANALYZE objects, proposals, members, kinds;
