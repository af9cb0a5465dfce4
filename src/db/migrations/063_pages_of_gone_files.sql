-- migration: concurrently
-- The list of pages that wait for a decision, which are few of all.
create index concurrently if not exists pages_of_gone_files on pages (wiki_id, page_id)
  where gone_file is not null and trashed_at is null;
