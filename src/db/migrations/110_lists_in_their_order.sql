-- migration: concurrently
-- works with: 102_tree_version.sql
-- The members of a workspace were read and sorted as a whole, and the audit log was read through for what happened between two times:
-- its order was that of its ids, of which PostgreSQL does not know that it is nearly that of the times.
create index concurrently if not exists memberships_by_time on memberships (workspace_id, created_at, membership_id);
drop index concurrently if exists memberships_by_workspace;
create index concurrently if not exists audit_events_by_time on audit_events (workspace_id, created_at, event_id);
drop index concurrently if exists audit_events_by_workspace;
create index concurrently if not exists audit_events_by_type_and_time on audit_events (workspace_id, type, created_at, event_id);
drop index concurrently if exists audit_events_by_type;
create index concurrently if not exists audit_events_by_actor_and_time on audit_events (workspace_id, actor_id, created_at, event_id);
drop index concurrently if exists audit_events_by_actor;
-- Who looks for work reads what is due, and the workspaces of it.
create index concurrently if not exists jobs_queued on jobs (kind, run_after, job_id) where status = 'queued';
create index concurrently if not exists jobs_queued_by_workspace on jobs (kind, workspace_id, run_after, job_id) where status = 'queued';
drop index concurrently if exists jobs_waiting;
