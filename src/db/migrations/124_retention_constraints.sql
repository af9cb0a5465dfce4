-- migration: concurrently
-- works with: 102_tree_version.sql
alter table workspaces validate constraint workspaces_trash_days;
alter table workspaces validate constraint workspaces_revision_days;
alter table workspaces validate constraint workspaces_audit_days;
alter table workspaces validate constraint workspaces_hold;
