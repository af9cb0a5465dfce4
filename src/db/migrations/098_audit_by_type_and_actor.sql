-- migration: concurrently
-- A filter of the audit log that few records meet read all records of the workspace.
create index concurrently if not exists audit_events_by_type on audit_events (workspace_id, type, event_id);
create index concurrently if not exists audit_events_by_actor on audit_events (workspace_id, actor_id, event_id);
