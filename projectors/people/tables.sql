-- name: tables
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
    roles    text[] NOT NULL,           -- author, subject, quoted, named
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

-- name: index_mentions_handle
CREATE INDEX mentions_handle ON mentions (user_id, handle, said_at DESC, event_id DESC);

-- name: analyze
ANALYZE entries, mentions, handles, links;
