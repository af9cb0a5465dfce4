-- Sessions that a browser keeps in a cookie, which nobody refreshes.

alter table sessions add column in_browser boolean not null default false;
comment on column sessions.in_browser is 'A browser keeps the session: access_hash is of the secret in its cookie, and each use moves access_expires_at.';
