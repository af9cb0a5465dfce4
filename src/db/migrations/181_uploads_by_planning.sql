-- migration: concurrently
-- works with: any
-- The upload of a wiki that was planned last, which a retry asks for.
create index concurrently if not exists uploads_by_planning on uploads (wiki_id, planned_at desc nulls last);
