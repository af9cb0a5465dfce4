-- migration: concurrently
-- works with: any
-- In the order in which they replaced others.
create index concurrently if not exists revisions_by_time on revisions (wiki_id, created_at) where revision > 1;
