-- migration: concurrently
-- For the pages of later uploads that show files of earlier ones.
create index concurrently if not exists upload_files_attached on upload_files (wiki_id, filename)
  where is_attachment and status = 'done';
