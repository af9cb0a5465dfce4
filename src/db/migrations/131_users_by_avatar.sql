-- migration: concurrently
-- works with: any
-- By the address of a picture, and by the blob that it is.
create unique index concurrently if not exists users_by_avatar on users (avatar_id) where avatar_id is not null;
create index concurrently if not exists users_by_sha256 on users (avatar_sha256) where avatar_sha256 is not null;
