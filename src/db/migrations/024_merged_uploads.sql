-- An upload merges what a file says now with what people have written since: this is what the two of them began with.

create table page_bases (
  wiki_id          text collate "C" not null,
  page_id          text collate "C" not null,
  title            text not null,
  markdown         text not null,
  waiting_title    text not null default '',
  waiting_markdown text not null default '',
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table page_bases is 'What an upload last compiled for a page that people have edited, where no revision holds it: the base of the next merge. Without a row that is the last compiled revision.';
comment on column page_bases.waiting_markdown is 'What an upload compiled and could not merge; "" for none. It becomes the base when somebody has written the page anew, which is then stale no more.';
grant select, insert, update, delete on page_bases to ibid_service;
alter table page_bases enable row level security;
create policy of_the_wiki on page_bases using (wiki_id = (select own_wiki()));

alter table upload_files drop constraint upload_files_page_change_check,
  add constraint upload_files_page_change_check check (page_change in ('', 'new', 'updated', 'merged', 'same', 'kept'));
comment on column upload_files.page_change is 'merged: the page has what people wrote and what the file says now. kept: both had changed the same places, so the upload left the page as it was and marked it as stale.';
