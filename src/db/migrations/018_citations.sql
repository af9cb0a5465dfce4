-- Each block of a compiled page carries the place in the text of its source that it shows, and that text's hash.

alter table page_sources
  add column starts int[] not null default '{}',
  add column ends int[] not null default '{}',
  add column first_pages int[] not null default '{}',
  add column last_pages int[] not null default '{}',
  add column hashes bytea not null default '',
  add constraint page_sources_blocks check (
    cardinality(ends) = cardinality(starts) and length(hashes) = 32 * cardinality(starts)
    and cardinality(first_pages) in (0, cardinality(starts)) and cardinality(last_pages) = cardinality(first_pages));
comment on table page_sources is 'Which sources a page was made from, and for each block of it, in its order, which part of the source''s text it shows.';
comment on column page_sources.starts is 'Where the blocks begin in source_texts.text, in UTF-16 units, as everywhere; ends is where they end.';
comment on column page_sources.first_pages is 'Of a source that has pages (PDF): where each block begins there, counted from 1; last_pages is where it ends. Else empty.';
comment on column page_sources.hashes is 'The SHA-256 of each block''s text when it was compiled, in UTF-8, 32 bytes each.';
