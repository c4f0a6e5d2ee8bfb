-- The cards of a mode that few cards have. A card without a mode is of the general mode, which needs no index.
CREATE INDEX cards_modes ON cards (user_id, mode) WHERE mode IS NOT NULL;
