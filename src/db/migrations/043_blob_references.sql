-- migration: concurrently
-- Whether anything refers to a blob is asked of each of these tables.
create index concurrently if not exists upload_files_by_sha256 on upload_files (sha256);
create index concurrently if not exists sources_by_sha256 on sources (sha256);
create index concurrently if not exists attachments_by_sha256 on attachments (sha256);
create index concurrently if not exists exports_by_sha256 on exports (sha256);
create index concurrently if not exists imports_by_sha256 on imports (sha256);
