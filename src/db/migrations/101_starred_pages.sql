-- Pages that a person wants at hand, for that person alone.

create table starred_pages (
  wiki_id    text collate "C" not null,
  user_id    text collate "C" not null references users on delete cascade,
  page_id    text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (wiki_id, user_id, page_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table starred_pages is 'Pages that a person has starred, seen by that person alone. A page in the trash keeps its stars.';
create index starred_pages_of_page on starred_pages (wiki_id, page_id);
create index starred_pages_of_user on starred_pages (user_id);
grant select, insert, update, delete on starred_pages to ibid_service;
alter table starred_pages enable row level security;
create policy of_the_user on starred_pages
  using (wiki_id = (select own_wiki()) and user_id = (select own_user()));

-- The lock makes concurrent ones count one after the other.
create function limit_starred_pages() returns trigger language plpgsql security definer as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('starred pages ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from starred_pages s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 100 then
    raise exception 'a person has starred too many pages' using errcode = '23514', constraint = 'starred_pages_of_a_person';
  end if;
  return null;
end $$;
comment on function limit_starred_pages is 'At most 100 of each person in a wiki.';
create trigger limit_starred_pages after insert on starred_pages for each row execute function limit_starred_pages();

do $$ begin
  execute format('alter function limit_starred_pages set search_path = %I, pg_temp', current_schema());
end $$;
