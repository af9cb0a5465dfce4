-- migration: concurrently
-- works with: any
-- The deleted wikis of a workspace, without those of all others.
create index concurrently if not exists wikis_by_trash on wikis (deleted_from, wiki_id) where workspace_id is null;
