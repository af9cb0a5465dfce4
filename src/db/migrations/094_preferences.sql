-- What users choose for themselves, wherever they are shown something.
alter table users
  add column language  text collate "C" not null default '',
  add column time_zone text collate "C" not null default '';
comment on column users.language is 'A language tag of those that widgets speak; '''' for that of the page.';
comment on column users.time_zone is 'A name of the IANA time zone database; '''' for that of the browser.';
