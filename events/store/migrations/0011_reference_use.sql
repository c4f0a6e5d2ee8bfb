-- How often each reference was read on each day. It is no part of the log, because a read is not an event. The tiers of
-- references follow from it, and every change of a tier is an event with its reason.
CREATE TABLE log.reference_use (
    user_id text COLLATE "C" NOT NULL,
    stream  text COLLATE "C" NOT NULL,
    day     date NOT NULL,
    uses    integer NOT NULL,
    PRIMARY KEY (user_id, stream, day)
) WITH (fillfactor = 70);
SELECT log.protect('log.reference_use');
