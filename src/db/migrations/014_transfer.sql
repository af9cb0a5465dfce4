-- Wikis that leave as archives, come from archives, and are deleted.

create table exports (
  wiki_id    text collate "C" not null,
  export_id  text collate "C" not null,
  created_by text collate "C" not null,
  filename   text not null,
  sha256     text collate "C" not null default '',
  byte_size  bigint not null default 0,
  expires_at timestamptz not null default now() + interval '7 days',
  primary key (wiki_id, export_id),
  foreign key (wiki_id, export_id) references jobs on delete cascade
);
comment on table exports is 'What an export job has made: an archive in the blob store, to be had until expires_at. The id is that of the job; sha256 is empty until it has ended.';
create index exports_by_end on exports (expires_at);

create table imports (
  wiki_id    text collate "C" not null,
  import_id  text collate "C" not null,
  created_by text collate "C" not null,
  filename   text not null,
  sha256     text collate "C" not null,
  byte_size  bigint not null,
  primary key (wiki_id, import_id),
  foreign key (wiki_id, import_id) references jobs on delete cascade
);
comment on table imports is 'The archive that an import job reads. The id is that of the job.';

create table imported_people (
  wiki_id text collate "C" not null references wikis on delete cascade,
  user_id text collate "C" not null,
  name    text not null,
  email   text not null,
  primary key (wiki_id, user_id)
);
comment on table imported_people is 'Authors in imported archives who are no members here: what the archive says of them, under ids that are nobody''s.';

grant select, insert, update, delete on exports, imports, imported_people to ibid_service;
alter table exports enable row level security;
create policy of_the_wiki on exports using (wiki_id = (select own_wiki()) or (select is_service()));
alter table imports enable row level security;
create policy of_the_wiki on imports using (wiki_id = (select own_wiki()));
alter table imported_people enable row level security;
create policy of_the_wiki on imported_people using (wiki_id = (select own_wiki()));

-- A deleted wiki belongs to no workspace from that moment on, so that nobody reaches it; a worker takes away what it held.
alter table wikis alter column workspace_id drop not null;
comment on column wikis.workspace_id is 'Null once the wiki was deleted, until a worker has taken away all that it held.';
-- A partial key is none that other tables could refer to, so that a deletion need not wait for whoever writes into the wiki.
alter table wikis drop constraint wikis_workspace_id_slug_key;
create unique index wikis_by_slug on wikis (workspace_id, slug) where workspace_id is not null;
drop policy of_the_workspaces on wikis;
create policy of_the_workspaces on wikis
  using (workspace_id = any ((select own_workspaces())::text[]) or (workspace_id is null and wiki_id = (select own_wiki())));

create or replace function knows_wiki(id text) returns boolean language sql stable security definer
  as $$ select exists (select from wikis where wiki_id = id and workspace_id is not null) $$;

create function deleted_wikis() returns setof text language sql stable security definer
  as $$ select wiki_id from wikis where workspace_id is null limit 100 $$;
comment on function deleted_wikis is 'For the service''s own housekeeping, which belongs to no wiki.';
create index wikis_deleted on wikis (wiki_id) where workspace_id is null;

-- An archive keeps the ids of its pages where nobody else has them.
create index pages_by_id on pages (page_id);
create index attachments_by_id on attachments (attachment_id);
create function ids_in_use(ids text[]) returns setof text language sql stable security definer
  as $$
    select page_id from pages where page_id = any (ids) union all
    select attachment_id from attachments where attachment_id = any (ids) $$;
comment on function ids_in_use is 'Which of these ids any wiki of the service has a page or an attachment under.';

create function blobs_in_use(hashes text[]) returns setof text language sql stable security definer
  as $$
    select sha256 from upload_files where sha256 = any (hashes) union
    select sha256 from sources where sha256 = any (hashes) union
    select sha256 from attachments where sha256 = any (hashes) union
    select sha256 from exports where sha256 = any (hashes) union
    select sha256 from imports where sha256 = any (hashes) $$;
comment on function blobs_in_use is 'Which of these blobs anything refers to. Every table that refers to blobs is named here.';

-- A function that runs as its owner looks for tables where they are, and never in a schema that its caller chose.
do $$
declare
  f regprocedure;
begin
  for f in select oid from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
