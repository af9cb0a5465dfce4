-- migration: concurrently
-- works with: any
alter table memberships validate constraint memberships_status_check;
create index concurrently if not exists workspaces_deleted on workspaces (deleted_at) where deleted_at is not null;
