-- migration: concurrently
-- works with: any
create unique index concurrently if not exists invitations_by_copied_link on invitations (copied_hash) where copied_hash is not null;
