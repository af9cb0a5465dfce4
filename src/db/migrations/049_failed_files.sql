-- migration: concurrently
-- For the scheduler, which looks for failed uploads whose bytes are still there.
create index concurrently if not exists upload_files_failed on upload_files (wiki_id, upload_id)
  where kind = 'file' and status = 'failed' and sha256 <> '';
