-- migration: concurrently
-- Whether a file of an earlier upload has another name since.
create index concurrently if not exists upload_files_renamed on upload_files (wiki_id, renamed_from)
  where renamed_from <> '';
