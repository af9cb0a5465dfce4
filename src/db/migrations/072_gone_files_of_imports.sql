-- A page of an archive may wait for a decision about its file, as it did in its wiki.
alter table import_pages add column gone_file text;
comment on column import_pages.gone_file is 'As pages.gone_file.';
