create table backup_status (
  the_only boolean primary key default true check (the_only),
  last_outcome text not null,
  last_ended_at timestamptz not null default now(),
  last_error text not null default '',
  last_backup_id text,
  last_made_at timestamptz,
  constraint outcomes check (last_outcome in ('succeeded', 'incomplete', 'failed'))
);
comment on table backup_status is
  'How the last backup of this database ended, and which one is the latest that is complete; no row: none was ever made. incomplete: the file store did not have all files.';
comment on column backup_status.last_made_at is 'When the snapshot of last_backup_id was taken.';
grant select on backup_status to ibid_service;
