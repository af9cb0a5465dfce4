-- migration: concurrently
-- works with: any
-- These indexes sorted by the collation of the database. Where that is one of the system, an update of the system sorts text
-- otherwise, and rows are not found any more. Now they sort by bytes, as all others do; migration 252 drops the former ones.
create index concurrently if not exists upload_files_by_filename on upload_files (wiki_id, filename collate "C") where status = 'done';
create index concurrently if not exists upload_files_attached_by_filename on upload_files (wiki_id, filename collate "C")
  where is_attachment and status = 'done';
create index concurrently if not exists upload_files_by_former_name on upload_files (wiki_id, renamed_from collate "C")
  where renamed_from <> '';
-- An account that is deleted is looked for in the records of all workspaces.
create index concurrently if not exists audit_events_by_former_member on audit_events (((before ->> 'user_id') collate "C"))
  where type = 'organization_membership.deleted';
create index concurrently if not exists audit_events_by_email on audit_events (((after ->> 'email') collate "C"))
  where after ->> 'email' is not null;
create index concurrently if not exists imported_people_by_address on imported_people (email collate "C");
create index concurrently if not exists workspaces_by_widget_origin on workspaces using gin (widget_origins collate "C");
