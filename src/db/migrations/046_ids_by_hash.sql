-- migration: concurrently
-- These find pages and attachments by their ids in all wikis. A list by id could walk them as well, which the planner did where
-- a wiki has a large share of all rows, and then read the rows of others, too. An index by hash has no order to be walked in.
create index concurrently if not exists pages_with_id on pages using hash (page_id);
create index concurrently if not exists attachments_with_id on attachments using hash (attachment_id);
drop index concurrently if exists pages_by_id;
drop index concurrently if exists attachments_by_id;
