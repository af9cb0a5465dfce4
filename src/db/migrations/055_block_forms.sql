-- What a block says is compared as a whole, with what is struck out or raised in it and with the cells of its row.

alter table page_sources
  add column form_blocks int[],
  add column form_hashes bytea not null default '';
comment on column page_sources.form_blocks is 'The blocks (their places in the lists, from 0) whose form is not their text; see src/markdown/block-form.ts. Null where a page was made before forms were kept.';
comment on column page_sources.form_hashes is 'The SHA-256 of the forms of form_blocks when they were compiled, in UTF-8, 32 bytes each.';
