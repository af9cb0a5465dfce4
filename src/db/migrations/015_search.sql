-- Searches of pages and sources, from impacts that are computed when a text is written.

create table search_wikis (
  wiki_id     text collate "C" not null references wikis on delete cascade,
  kind        text collate "C" not null check (kind in ('page', 'source')),
  next_no     int not null default 0,
  documents   int not null default 0,
  title_terms bigint not null default 0,
  body_terms  bigint not null default 0,
  pivot_title real not null,
  pivot_body  real not null,
  is_stale    boolean not null default false,
  primary key (wiki_id, kind)
);
comment on table search_wikis is 'What an index knows of its documents together. Its row''s lock is held by whoever folds.';
comment on column search_wikis.pivot_body is 'The average length that impacts are computed with. title_terms and body_terms say what it would be by now.';
comment on column search_wikis.is_stale is 'The averages are no longer true, or texts were there before the index: a reindex job is due.';

create table search_documents (
  wiki_id     text collate "C" not null references wikis on delete cascade,
  kind        text collate "C" not null,
  document_no int not null,
  document_id text collate "C" not null,
  title_terms text not null,
  body_terms  text not null,
  pivot_title real not null,
  pivot_body  real not null,
  primary key (wiki_id, kind, document_no),
  unique (wiki_id, kind, document_id)
);
comment on table search_documents is 'What of each page and source is in search_postings, so that a change takes out exactly that. document_id: of a page or of a source.';

create table search_postings (
  wiki_id  text collate "C" not null,
  kind     text collate "C" not null,
  term     text collate "C" not null,
  chunk_no int not null,
  postings bytea not null,
  primary key (wiki_id, kind, term, chunk_no)
) with (fillfactor = 80);
-- Numbers and impacts hardly compress, and trying costs more than it saves.
alter table search_postings alter column postings set storage external;
comment on table search_postings is 'Which documents of 4,096 neighbours hold a term, and how much it weighs in each (src/search/postings.ts).';

create table search_words (
  wiki_id   text collate "C" not null,
  kind      text collate "C" not null,
  word      text collate "C" not null,
  backwards text collate "C" not null,
  primary key (wiki_id, kind, word)
);
create index search_words_backwards on search_words (wiki_id, kind, backwards);
comment on table search_words is 'Words as they are written, for corrections: a word with one wrong letter begins or ends as the right one.';

create table search_pending (
  wiki_id     text collate "C" not null references wikis on delete cascade,
  kind        text collate "C" not null,
  document_id text collate "C" not null,
  version     int not null,
  title_terms text,
  body_terms  text,
  vocabulary  text,
  created_at  timestamptz not null default now(),
  primary key (wiki_id, kind, document_id, version)
);
comment on table search_pending is 'Documents as they were last written, until they are folded into search_postings. Searches look at both. Rows are only added, so writers never wait for each other. Null: to be read from the document''s text.';

-- A posting has no key to its wiki, which would be looked up for every row; it goes with the index.
create function remove_index() returns trigger language plpgsql as $$
begin
  delete from search_postings where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_words where wiki_id = old.wiki_id and kind = old.kind;
  return null;
end $$;
create trigger with_its_index after delete on search_wikis for each row execute function remove_index();

create function indexes_with_work(enough int, age interval) returns table (wiki_id text, kind text, is_stale boolean)
language sql stable security definer as $$
  (select p.wiki_id, p.kind, false from search_pending p group by p.wiki_id, p.kind
    having count(*) >= enough or min(p.created_at) < now() - age limit 100)
  union all
  (select w.wiki_id, w.kind, true from search_wikis w where w.is_stale and not exists (
      select from jobs j where j.wiki_id = w.wiki_id and j.kind = 'reindex' and j.status in ('queued', 'running')) limit 100)
$$;
comment on function indexes_with_work is 'For the upkeep of indexes, which belongs to no wiki.';
do $$ begin
  execute format('alter function indexes_with_work set search_path = %I, pg_temp', current_schema());
  execute format('alter function remove_index set search_path = %I, pg_temp', current_schema());
end $$;
create index search_wikis_stale on search_wikis (wiki_id) where is_stale;

grant select, insert, update, delete on search_wikis, search_documents, search_postings, search_words, search_pending
  to ibid_service;
do $$
declare
  name text;
begin
  foreach name in array array['search_wikis', 'search_documents', 'search_postings', 'search_words', 'search_pending',
    'page_texts', 'source_texts']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy of_the_wiki on %I using (wiki_id = (select own_wiki()))', name);
  end loop;
end $$;

-- What is there already is indexed by a job; until it ends, searches find what it has come to.
alter table page_texts drop column search;
alter table source_texts drop column search;
insert into search_wikis (wiki_id, kind, pivot_title, pivot_body, is_stale)
select distinct wiki_id, 'page', 4, 150, true from page_texts
union select distinct wiki_id, 'source', 4, 150, true from source_texts;
