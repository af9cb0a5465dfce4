-- migration: concurrently
-- The list of pages whose sources have changed, which are few of all.
create index concurrently if not exists pages_stale on pages (wiki_id, page_id)
  where stale and trashed_at is null;
