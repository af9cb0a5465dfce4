-- works with: any
create table wal_archive (
  the_only     boolean primary key default true check (the_only),
  last_segment text collate "C",
  stored_until timestamptz,
  files_until  timestamptz not null default now(),
  gap_at       timestamptz,
  based_at     timestamptz
);
comment on table wal_archive is
  'Which write-ahead log of the service''s own PostgreSQL is in the place of backups, for recovery to a moment; no row: it is not stored.';
comment on column wal_archive.last_segment is 'The latest segment that is stored; null: none, or none since a gap.';
comment on column wal_archive.stored_until is 'What was committed before this is stored.';
comment on column wal_archive.files_until is 'Files of the store that were kept before this are in the place of backups, too; later ones are not deleted.';
comment on column wal_archive.gap_at is 'When it was noticed that a segment was lost before it was stored.';
comment on column wal_archive.based_at is 'When the latest base backup of a complete backup was begun.';
grant select on wal_archive to ibid_service;
