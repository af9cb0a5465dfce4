-- migration: concurrently
-- works with: any
-- Only files of resumable uploads have an id of their own.
create unique index concurrently if not exists upload_files_of_tus on upload_files (wiki_id, upload_id, file_id) where file_id is not null;
drop index concurrently if exists upload_files_by_id;
