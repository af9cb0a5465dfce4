-- Each block of a compiled page carries the lines of the uploaded file that it shows.

alter table page_sources
  add column first_lines int[] not null default '{}',
  add column last_lines int[] not null default '{}',
  add constraint page_sources_lines check (
    cardinality(first_lines) in (0, cardinality(starts)) and cardinality(last_lines) = cardinality(first_lines));
comment on column page_sources.first_lines is 'Of a source that has lines (Markdown, text, CSV): where each block begins in the file, counted from 1, 0 for what is not from it; last_lines is where it ends. Else, and where a page was made before lines were kept, empty.';
