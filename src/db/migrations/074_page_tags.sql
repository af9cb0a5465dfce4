-- Tags and other properties, from the front matter of the present revision.
alter table pages
  add column tags       text[] not null default '{}',
  add column properties jsonb  not null default '[]';
comment on column pages.tags is 'As they are written, in their order; page_tags has them to look pages up by.';
comment on column pages.properties is 'The other fields of its front matter, in their order: [{"name": …, "value": …}].';

alter table import_pages
  add column tags       jsonb not null default '[]',
  add column properties jsonb not null default '[]';

create table page_tags (
  wiki_id text collate "C" not null,
  tag_key text collate "C" not null,
  page_id text collate "C" not null,
  tag     text not null check (length(tag) between 1 and 100),
  primary key (wiki_id, tag_key, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table page_tags is 'Which pages have a tag. Written by the triggers of pages alone, which follow pages.tags.';
comment on column page_tags.tag_key is 'The tag as it is compared: in lower case.';
create index page_tags_by_page on page_tags (wiki_id, page_id);
grant select, insert, update, delete on page_tags to ibid_service;
alter table page_tags enable row level security;
create policy of_the_wiki on page_tags using (wiki_id = (select own_wiki()));

create function write_page_tags() returns trigger language plpgsql as $$
begin
  if cardinality(new.tags) > 50 then
    raise check_violation using message = 'a page has at most 50 tags';
  end if;
  if tg_op = 'UPDATE' then
    delete from page_tags t where t.wiki_id = new.wiki_id and t.page_id = new.page_id;
  end if;
  insert into page_tags (wiki_id, tag_key, page_id, tag)
  select new.wiki_id, lower(g.tag), new.page_id, g.tag from unnest(new.tags) g (tag)
  on conflict do nothing;
  return null;
end $$;
do $$ begin
  execute format('alter function write_page_tags set search_path = %I, pg_temp', current_schema());
end $$;
-- Most pages have none and most writes change none; then the triggers do not run.
create trigger write_tags_of_new after insert on pages for each row
  when (new.tags <> '{}') execute function write_page_tags();
create trigger write_changed_tags after update of tags on pages for each row
  when (new.tags <> old.tags) execute function write_page_tags();
