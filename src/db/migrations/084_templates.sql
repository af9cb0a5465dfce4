-- Pages that new pages are begun from.

create table templates (
  wiki_id    text collate "C" not null,
  page_id    text collate "C" not null,
  created_at timestamptz not null default now(),
  created_by text collate "C" not null,
  primary key (wiki_id, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table templates is 'Which pages of a wiki are offered as templates. created_by: who made the page one.';
grant select, insert, delete on templates to ibid_service;
alter table templates enable row level security;
create policy of_the_wiki on templates using (wiki_id = (select own_wiki()));
