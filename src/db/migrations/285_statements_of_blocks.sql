-- works with: any
-- A row of a table says nothing without its heads, nor a sentence without its note: forms have them now. Those of before stay valid.
alter table page_sources add column form_version integer not null default 0;
comment on column page_sources.form_version is 'The version of the forms in form_hashes: 0 before they had the heads of columns and the words of notes, 1 since; see src/markdown/blocks/block-form.ts.';
