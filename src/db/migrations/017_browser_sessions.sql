-- Sessions that a browser keeps in a cookie, which nobody refreshes.

alter table sessions add column in_browser boolean not null default false;
comment on column sessions.in_browser is 'A browser keeps the session: access_hash is of the secret in its cookie, and each use moves access_expires_at.';

-- A branch of a large tree is read from its beginning, without sorting all of it.
drop index pages_by_parent;
create index pages_by_parent on pages (wiki_id, parent_page_id, position, page_id);
