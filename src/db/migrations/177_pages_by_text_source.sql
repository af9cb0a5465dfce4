-- migration: concurrently
-- works with: any
create index concurrently if not exists pages_by_text_source on pages using hash (text_source_id) where text_source_id is not null;
