-- migration: concurrently
-- works with: any
-- Migration 250 made the indexes that replace these.
drop index concurrently if exists upload_files_by_name;
drop index concurrently if exists upload_files_attached;
drop index concurrently if exists upload_files_renamed;
drop index concurrently if exists audit_events_of_former_members;
drop index concurrently if exists audit_events_with_address;
drop index concurrently if exists imported_people_by_email;
drop index concurrently if exists workspaces_widget_origins;
