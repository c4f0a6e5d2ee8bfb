CREATE INDEX members_member ON members (member);
