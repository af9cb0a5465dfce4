-- migration: concurrently
-- The homes of a wiki and of a workspace show what was changed last, and read every page for it.
create index concurrently if not exists pages_by_change on pages (wiki_id, status, updated_at, page_id)
  where trashed_at is null;
