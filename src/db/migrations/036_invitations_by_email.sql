-- migration: concurrently
alter table jobs validate constraint jobs_failures_check;

-- is_invited looks for an address in all workspaces, which invitations_pending does not serve: it begins with the workspace.
create index concurrently if not exists invitations_by_email on invitations (email) where state = 'pending';
