-- migration: concurrently
-- works with: any
-- What stores WAL asks each minute which files were kept since it last looked.
create index concurrently if not exists blobs_by_kept_at on blobs (kept_at, sha256);
