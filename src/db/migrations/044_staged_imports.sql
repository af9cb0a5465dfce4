-- An import was one transaction that read the file store and rendered pages while it was open: it held a connection and its
-- locks for minutes. Now it writes what it has prepared here, batch by batch, and one short transaction makes it visible. What
-- is here can be prepared again, so it is not logged: after a crash of the database an import starts over.

create unlogged table staged_imports (
  wiki_id   text collate "C" not null,
  import_id text collate "C" not null,
  primary key (wiki_id, import_id),
  foreign key (wiki_id, import_id) references imports on delete cascade
);
comment on table staged_imports is 'The imports that have rows in import_pages, import_revisions and import_attachments. The row of one that runs is missing after the database has crashed, which has emptied all four tables.';

create unlogged table import_pages (
  wiki_id        text collate "C" not null,
  import_id      text collate "C" not null,
  page_id        text collate "C" not null,
  path           text collate "C" not null,
  slug           text collate "C" not null,
  parent_page_id text collate "C",
  parent_path    text collate "C",
  title          text not null,
  description    text not null,
  position       int not null,
  status         text collate "C" not null,
  origin         text collate "C" not null,
  stale          boolean not null,
  revision       int not null,
  word_count     int not null,
  created_at     timestamptz not null,
  created_by     text collate "C" not null,
  updated_at     timestamptz not null,
  updated_by     text collate "C" not null,
  former_paths   jsonb not null,
  primary key (wiki_id, import_id, page_id),
  foreign key (wiki_id, import_id) references staged_imports on delete cascade
);
comment on table import_pages is 'Pages that a running import has prepared. former_paths: rows of page_paths.';

create unlogged table import_revisions (
  wiki_id     text collate "C" not null,
  import_id   text collate "C" not null,
  page_id     text collate "C" not null,
  revision    int not null,
  title       text not null,
  markdown    text not null,
  html        text not null,
  outline     jsonb not null,
  origin      text collate "C" not null,
  folder      text collate "C" not null,
  created_at  timestamptz not null,
  created_by  text collate "C" not null,
  text        text,
  title_terms text,
  body_terms  text,
  vocabulary  text,
  links       jsonb,
  primary key (wiki_id, import_id, page_id, revision),
  foreign key (wiki_id, import_id) references staged_imports on delete cascade
);
comment on table import_revisions is 'Revisions that a running import has rendered. text, the terms and links: of present revisions; what page_texts, search_pending and page_links get.';

create unlogged table import_attachments (
  wiki_id       text collate "C" not null,
  import_id     text collate "C" not null,
  attachment_id text collate "C" not null,
  page_id       text collate "C" not null,
  filename      text not null,
  content_type  text not null,
  byte_size     bigint not null,
  sha256        text collate "C" not null,
  created_at    timestamptz not null,
  created_by    text collate "C" not null,
  primary key (wiki_id, import_id, attachment_id),
  foreign key (wiki_id, import_id) references staged_imports on delete cascade
);
comment on table import_attachments is 'Attachments whose files a running import has stored. They are no references to blobs: those that are left behind are deleted a day later.';

grant select, insert, update, delete on staged_imports, import_pages, import_revisions, import_attachments to ibid_service;
alter table staged_imports enable row level security;
create policy of_the_wiki on staged_imports using (wiki_id = (select own_wiki()));
alter table import_pages enable row level security;
create policy of_the_wiki on import_pages using (wiki_id = (select own_wiki()));
alter table import_revisions enable row level security;
create policy of_the_wiki on import_revisions using (wiki_id = (select own_wiki()));
alter table import_attachments enable row level security;
create policy of_the_wiki on import_attachments using (wiki_id = (select own_wiki()));

create function wikis_with_staged_imports() returns table (wiki_id text, workspace_id text)
language sql stable security definer as $$
  select k.wiki_id, k.workspace_id from wikis k where k.wiki_id in (
    select s.wiki_id from staged_imports s join jobs j on j.wiki_id = s.wiki_id and j.job_id = s.import_id
    where j.finished_at is not null)
$$;
comment on function wikis_with_staged_imports is 'For the scheduler: wikis with prepared rows of imports that have ended.';
do $$
begin
  execute format('alter function wikis_with_staged_imports() set search_path = %I, pg_temp', current_schema());
end $$;
