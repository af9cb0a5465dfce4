-- Postings in segments: each merge writes a new one and takes in smaller ones, so that no block is ever changed. A document needs
-- no list of its terms any more: what older segments have of it is dead.

create table search_segments (
  segment_id bigint not null,
  documents  int not null,
  dead_count int not null default 0,
  bytes      bigint not null,
  wiki_id    text collate "C" not null,
  kind       text collate "C" not null,
  dead       bytea not null default '',
  primary key (wiki_id, kind, segment_id)
);
comment on table search_segments is 'The parts of an index, each of the documents that one merge wrote. segment_id 0: what is in search_postings.';
comment on column search_segments.dead is 'The numbers of documents that were written or deleted since; what the segment has of them does not count.';

create table search_blocks (
  segment_id bigint not null,
  documents  int not null,
  part       smallint not null,
  wiki_id    text collate "C" not null,
  kind       text collate "C" not null,
  term       text collate "C" not null,
  bytes      bytea not null,
  primary key (wiki_id, kind, segment_id, term, part)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
-- Differences and impacts hardly compress, and trying costs more than it saves.
alter table search_blocks alter column bytes set storage external;
comment on table search_blocks is 'The postings of a segment, in the order of terms: of several terms (documents = 0), or a part of those of a frequent one (src/search/index/blocks.ts). Never changed.';

create or replace function remove_index() returns trigger language plpgsql as $$
begin
  delete from search_blocks where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_segments where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_postings where wiki_id = old.wiki_id and kind = old.kind;
  delete from search_words where wiki_id = old.wiki_id and kind = old.kind;
  return null;
end $$;
do $$ begin
  execute format('alter function remove_index set search_path = %I, pg_temp', current_schema());
end $$;

grant select, insert, update, delete on search_segments, search_blocks to ibid_service;
alter table search_segments enable row level security;
create policy of_the_wiki on search_segments using (wiki_id = (select own_wiki()));
alter table search_blocks enable row level security;
create policy of_the_wiki on search_blocks using (wiki_id = (select own_wiki()));

alter table search_documents add column title_length int;
alter table search_documents add column body_length int;
comment on column search_documents.title_length is 'The number of words, for the averages; null: as title_terms says.';
alter table search_documents alter column title_terms set default '';
alter table search_documents alter column body_terms set default '';
alter table search_documents alter column pivot_title set default 0;
alter table search_documents alter column pivot_body set default 0;
comment on table search_documents is 'The numbers of pages and sources in postings.';
