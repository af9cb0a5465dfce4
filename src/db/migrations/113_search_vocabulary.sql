-- works with: 102_tree_version.sql
-- A row and two keys of each word took 270 bytes, most of them the wiki's id: more than the rest of the index of a small wiki. Words
-- are packed into blocks by the next merge of their wiki; until then they stay, and are found, in search_words.

create table search_vocabulary (
  is_backwards boolean not null,
  wiki_id      text collate "C" not null references wikis on delete cascade,
  kind         text collate "C" not null,
  first        text collate "C" not null,
  words        text collate "C" not null,
  primary key (wiki_id, kind, is_backwards, first)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
-- Each merge looks for its words in them.
alter table search_vocabulary alter column words set storage external;
alter table search_vocabulary alter column wiki_id set (n_distinct = 20);
comment on table search_vocabulary is 'Words as they are written, in order, in blocks: each as it is and in another block backwards (src/search/index/vocabulary.ts).';
comment on column search_vocabulary.words is 'With spaces between, before and behind.';
comment on table search_words is 'Words as they are written, for corrections: a word with one wrong letter begins or ends as the right one. Those that are not in search_vocabulary yet.';

grant select, insert, update, delete on search_vocabulary to ibid_service;
alter table search_vocabulary enable row level security;
create policy of_the_wiki on search_vocabulary using (wiki_id = (select own_wiki()));

alter table search_wikis add column loose_words int;
comment on column search_wikis.loose_words is 'How many rows merges have added to search_words since its words were packed; null: not counted.';
