-- How often each card was in an answer, and how many cards the answers of each day held. They are no part of the log and no
-- truth: the read service counts outside the requests, and a kill loses the counts of some seconds. Days are kept for 92 days.
CREATE TABLE log.card_use (
    user_id  text COLLATE "C" NOT NULL,
    card_id  uuid NOT NULL,
    uses     bigint NOT NULL,
    last_day date NOT NULL,
    PRIMARY KEY (user_id, card_id)
) WITH (fillfactor = 70);
CREATE TABLE log.answer_use (
    user_id text COLLATE "C" NOT NULL,
    day     date NOT NULL,
    cards   bigint NOT NULL,
    PRIMARY KEY (user_id, day)
) WITH (fillfactor = 70);
SELECT log.protect('log.card_use');
SELECT log.protect('log.answer_use');
