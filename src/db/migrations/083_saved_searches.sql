-- Searches that a person has given a name, for that person alone.

create table saved_searches (
  wiki_id         text collate "C" not null references wikis on delete cascade,
  user_id         text collate "C" not null references users on delete cascade,
  saved_search_id text collate "C" not null,
  name            text not null check (length(name) between 1 and 100),
  name_key        text collate "C" not null generated always as (lower(name)) stored,
  query           text not null check (length(query) between 1 and 1024),
  sort            text collate "C" not null check (sort in ('relevance', 'updated', 'created', 'title')),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (wiki_id, user_id, saved_search_id),
  constraint saved_searches_by_name unique (wiki_id, user_id, name_key)
);
comment on table saved_searches is 'Searches with a name, each for one person. saved_search_id is chosen by the client. query: as it is typed, with its operators.';
create index saved_searches_of_user on saved_searches (user_id);
grant select, insert, update, delete on saved_searches to ibid_service;
alter table saved_searches enable row level security;
create policy of_the_user on saved_searches
  using (wiki_id = (select own_wiki()) and user_id = (select own_user()));

-- The lock makes concurrent ones count one after the other.
create function limit_saved_searches() returns trigger language plpgsql security definer as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('saved searches ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from saved_searches s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 50 then
    raise exception 'a person has too many saved searches' using errcode = '23514', constraint = 'saved_searches_of_a_person';
  end if;
  return null;
end $$;
comment on function limit_saved_searches is 'At most 50 of each person in a wiki.';
create trigger limit_saved_searches after insert on saved_searches for each row execute function limit_saved_searches();

do $$ begin
  execute format('alter function limit_saved_searches set search_path = %I, pg_temp', current_schema());
end $$;
