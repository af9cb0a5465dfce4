-- migration: concurrently
-- works with: any
-- By the blob that a logo is.
create index concurrently if not exists workspaces_by_logo on workspaces (logo_sha256) where logo_sha256 is not null;
