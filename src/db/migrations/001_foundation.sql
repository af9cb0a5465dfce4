-- The foundation: who there is, what they own, and how bytes become pages.
-- Ids are text in the C collation, so that comparing them is comparing bytes and ordering them is ordering by creation.
-- Everything heavy carries wiki_id and has it first in its keys, so that it can be distributed by wiki.

-- Statements of the door call this when the caller is refused, so that a write in the same statement is undone.
create function refuse(status int) returns int language plpgsql as $$
begin
  raise exception 'refused' using errcode = 'IB' || status;
end $$;
comment on function refuse is 'Fails the statement with SQLSTATE IB<status>: a refused write leaves nothing behind.';

create function rfc3339(t timestamptz) returns text language sql immutable parallel safe as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
comment on function rfc3339 is 'A timestamp as the API writes it, for records that are aggregated to JSON.';

create table users (
  user_id           text collate "C" primary key,
  email             text collate "C" not null,
  email_verified    boolean not null default false,
  display_name      text not null,
  avatar_url        text not null default '',
  last_workspace_id text collate "C",
  created_at        timestamptz not null default now()
);
comment on table users is 'People. An e-mail address is a claim of an issuer, not a key: two users may have the same.';
create index users_by_email on users (email);

create table identities (
  issuer  text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null references users on delete cascade,
  primary key (issuer, subject)
);
comment on table identities is 'A user is (issuer, subject). The issuer "ibid" is this service; its subject is the verified address.';
create index identities_by_user on identities (user_id);

create table workspaces (
  workspace_id    text collate "C" primary key,
  name            text not null,
  slug            text collate "C" not null unique,
  seats_granted   int not null default 0 check (seats_granted >= 0),
  seats_unlimited boolean not null default true,
  seats_overage   boolean not null default false,
  created_by      text collate "C" not null references users,
  created_at      timestamptz not null default now()
);
comment on table workspaces is 'The owning entity, also called organization. Its row is locked where seats or roles are decided.';

create table memberships (
  membership_id text collate "C" primary key,
  workspace_id  text collate "C" not null references workspaces on delete cascade,
  user_id       text collate "C" not null references users on delete cascade,
  role          text collate "C" not null check (role in ('owner', 'admin', 'developer', 'billing', 'member', 'viewer')),
  status        text collate "C" not null default 'active' check (status in ('active', 'inactive')),
  created_at    timestamptz not null default now(),
  unique (user_id, workspace_id)
);
comment on table memberships is 'Who belongs to which workspace in which role; the one place that access is decided from.';
create index memberships_by_workspace on memberships (workspace_id);

create table invitations (
  invitation_id text collate "C" primary key,
  workspace_id  text collate "C" not null references workspaces on delete cascade,
  email         text collate "C" not null,
  role          text collate "C" not null check (role in ('owner', 'admin', 'developer', 'billing', 'member', 'viewer')),
  state         text collate "C" not null default 'pending' check (state in ('pending', 'accepted', 'revoked', 'expired')),
  secret_hash   bytea not null unique,
  invited_by    text collate "C" not null references users,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null
);
comment on table invitations is 'A pending one past expires_at counts as expired wherever it is read; no timer writes that down. The secret of the link is kept as its SHA-256 alone.';
create unique index invitations_pending on invitations (workspace_id, email) where state = 'pending';

create table api_keys (
  key_id           text collate "C" primary key,
  workspace_id     text collate "C" references workspaces on delete cascade,
  user_id          text collate "C" not null references users on delete cascade,
  name             text not null,
  secret_hash      bytea not null unique,
  obfuscated_value text not null,
  permissions      text[],
  created_at       timestamptz not null default now(),
  expires_at       timestamptz,
  revoked_at       timestamptz,
  last_used_at     timestamptz
);
comment on table api_keys is 'Only the SHA-256 of a key is kept. workspace_id null: a personal key of user_id; else a key of that workspace, made by user_id and never stronger than that user is now. permissions null: all that the role gives.';
create index api_keys_by_workspace on api_keys (workspace_id, key_id);
create index api_keys_by_user on api_keys (user_id, key_id);

create table signing_keys (
  kid        text collate "C" primary key,
  secret     bytea not null,
  created_at timestamptz not null default now()
);
comment on table signing_keys is 'What widget tokens are signed with, shared by all processes.';

create table subscriptions (
  workspace_id text collate "C" primary key references workspaces on delete cascade,
  plan_id      text collate "C" not null,
  quantity     int not null check (quantity > 0),
  period_start timestamptz not null,
  period_end   timestamptz not null,
  check (period_end > period_start)
);
comment on table subscriptions is 'The paid plan of a workspace, written by the payment provider. No row: none.';

create table audit_events (
  event_id      text collate "C" primary key,
  workspace_id  text collate "C",
  type          text collate "C" not null,
  actor_id      text collate "C",
  credential_id text collate "C",
  request_id    text collate "C" not null,
  address       text not null,
  details       jsonb not null,
  created_at    timestamptz not null default now()
);
comment on table audit_events is 'One record for each write, made by the statement that writes.';
create index audit_events_by_workspace on audit_events (workspace_id, event_id);

create table idempotency_keys (
  id          bytea primary key,
  fingerprint bytea not null,
  answer      bytea not null,
  created_at  timestamptz not null default now()
);
comment on table idempotency_keys is 'What a request with an Idempotency-Key was answered, for 24 hours. id is the SHA-256 of caller, endpoint and key; the answer is encrypted with what only the client knows.';
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table wikis (
  wiki_id      text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces on delete cascade,
  slug         text collate "C" not null,
  title        text not null,
  description  text not null default '',
  created_by   text collate "C" not null references users,
  created_at   timestamptz not null default now(),
  unique (workspace_id, slug)
);
comment on table wikis is 'A wiki belongs to one workspace; access to all that it holds is decided here.';

create table pages (
  wiki_id        text collate "C" not null references wikis on delete cascade,
  page_id        text collate "C" not null,
  path           text collate "C" not null,
  slug           text collate "C" not null,
  title          text not null,
  description    text not null default '',
  parent_page_id text collate "C",
  position       int not null default 0,
  status         text collate "C" not null default 'published' check (status in ('draft', 'published', 'archived')),
  origin         text collate "C" not null check (origin in ('authored', 'compiled')),
  revision       int not null,
  word_count     int not null,
  source_count   int not null default 0,
  stale          boolean not null default false,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  created_by     text collate "C" not null,
  updated_by     text collate "C" not null,
  primary key (wiki_id, page_id),
  unique (wiki_id, path),
  foreign key (wiki_id, parent_page_id) references pages (wiki_id, page_id) deferrable initially deferred
);
comment on table pages is 'What lists and trees need of a page; rows stay narrow because the text is in revisions.';
create index pages_by_parent on pages (wiki_id, parent_page_id);

create table revisions (
  wiki_id    text collate "C" not null,
  page_id    text collate "C" not null,
  revision   int not null,
  title      text not null,
  markdown   text not null,
  html       text not null,
  outline    jsonb not null,
  created_at timestamptz not null default now(),
  created_by text collate "C" not null,
  primary key (wiki_id, page_id, revision),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table revisions is 'Every state of every page. The safe HTML is made once, when the revision is written.';

create table page_texts (
  wiki_id text collate "C" not null,
  page_id text collate "C" not null,
  text    text not null,
  search  tsvector not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table page_texts is 'The plain text of the present revision, for search and snippets.';
-- Entries that wait to be put in their places are read by every search, and many of them (4 MB unless stated) make the
-- planner avoid the index after an upload. So for the sources' index below.
create index page_texts_search on page_texts using gin (search) with (gin_pending_list_limit = 256);

create table page_links (
  wiki_id      text collate "C" not null,
  from_page_id text collate "C" not null,
  to_page_id   text collate "C" not null,
  primary key (wiki_id, from_page_id, to_page_id),
  foreign key (wiki_id, from_page_id) references pages (wiki_id, page_id) on delete cascade
);
comment on table page_links is 'Which page links to which. The target may be written later than the link, so whoever reads joins pages.';
create index page_links_back on page_links (wiki_id, to_page_id);

create table uploads (
  wiki_id      text collate "C" not null references wikis on delete cascade,
  upload_id    text collate "C" not null,
  status       text collate "C" not null check (status in ('uploading', 'queued', 'completed', 'failed')),
  source_count int not null default 0,
  summary      text not null default '',
  error        text not null default '',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  finished_at  timestamptz,
  created_by   text collate "C" not null,
  primary key (wiki_id, upload_id),
  check ((finished_at is null) = (status in ('uploading', 'queued')))
);
comment on table uploads is 'uploading, queued, then completed or failed; status_label is computed when read.';

create table upload_files (
  wiki_id      text collate "C" not null,
  upload_id    text collate "C" not null,
  file_no      int not null,
  kind         text collate "C" not null default 'file' check (kind in ('file', 'folder')),
  filename     text not null,
  content_type text not null,
  byte_size    bigint not null,
  sha256       text collate "C" not null,
  status       text collate "C" not null default 'pending' check (status in ('pending', 'done', 'failed')),
  error        text not null default '',
  page_path    text collate "C" not null default '',
  page_id      text collate "C",
  page_change  text collate "C" not null default '' check (page_change in ('', 'new', 'updated', 'same')),
  source_id    text collate "C",
  new_source   boolean not null default false,
  primary key (wiki_id, upload_id, file_no),
  foreign key (wiki_id, upload_id) references uploads on delete cascade
);
comment on table upload_files is 'Each file of an upload and what became of it; a worker that takes over goes on with the pending ones. page_path and page_id are decided once, before the first file is read. A row of kind folder is the page of a folder that no file is the page of.';
create index upload_files_by_name on upload_files (wiki_id, filename) where status = 'done';

create table sources (
  wiki_id      text collate "C" not null references wikis on delete cascade,
  source_id    text collate "C" not null,
  upload_id    text collate "C" not null,
  title        text not null,
  filename     text not null,
  content_type text not null,
  byte_size    bigint not null,
  sha256       text collate "C" not null,
  language     text not null default '',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (wiki_id, source_id),
  unique (wiki_id, sha256)
);
comment on table sources is 'What was handed over. The same bytes are one source of a wiki, however often they come.';

create table source_texts (
  wiki_id   text collate "C" not null,
  source_id text collate "C" not null,
  text      text not null,
  search    tsvector not null,
  primary key (wiki_id, source_id),
  foreign key (wiki_id, source_id) references sources on delete cascade
);
comment on table source_texts is 'The plain text of a source, for search and snippets.';
create index source_texts_search on source_texts using gin (search) with (gin_pending_list_limit = 256);

create table page_sources (
  wiki_id   text collate "C" not null,
  page_id   text collate "C" not null,
  source_id text collate "C" not null,
  primary key (wiki_id, page_id, source_id),
  foreign key (wiki_id, page_id) references pages on delete cascade,
  foreign key (wiki_id, source_id) references sources on delete cascade
);
comment on table page_sources is 'Which sources a page was made from.';
create index page_sources_by_source on page_sources (wiki_id, source_id);

create table jobs (
  wiki_id     text collate "C" not null references wikis on delete cascade,
  job_id      text collate "C" not null,
  upload_id   text collate "C",
  kind        text collate "C" not null check (kind in ('ingest', 'compile', 'import', 'export', 'reindex')),
  status      text collate "C" not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  attempt     int not null default 0,
  failures    int not null default 0,
  progress    int not null default 0 check (progress between 0 and 100),
  summary     text not null default '',
  error       text not null default '',
  run_after   timestamptz not null default now(),
  lease_until timestamptz,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  started_at  timestamptz,
  finished_at timestamptz,
  primary key (wiki_id, job_id)
);
comment on table jobs is 'The queue and the public record of a job at once. (attempt, lease_until) say who holds it: each claim raises attempt. failures counts the attempts since it last got on.';
create index jobs_waiting on jobs (run_after) where status in ('queued', 'running');
create index jobs_by_upload on jobs (wiki_id, upload_id);
-- What a job has planned stays true until it ends, because no other job of its wiki can start before.
create unique index jobs_started on jobs (wiki_id) where status in ('queued', 'running') and started_at is not null;
