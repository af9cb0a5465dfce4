-- What a person is writing lived in one browser. It is kept for that person alone, so that they can go on elsewhere.

create table autosaves (
  wiki_id        text collate "C" not null references wikis on delete cascade,
  user_id        text collate "C" not null references users on delete cascade,
  autosave_id    text collate "C" not null,
  page_id        text collate "C",
  parent_page_id text collate "C" not null default '',
  title          text not null,
  markdown       text not null,
  base_revision  int not null default 0,
  byte_size      bigint not null generated always as (octet_length(title) + octet_length(markdown)) stored,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (wiki_id, user_id, autosave_id),
  foreign key (wiki_id, page_id) references pages on delete cascade
);
comment on table autosaves is 'Texts that are being written and are not saved as pages. autosave_id is chosen by the client. page_id: null for a page that is not created yet. byte_size counts for the quota of the workspace.';
create index autosaves_of_page on autosaves (wiki_id, page_id) where page_id is not null;
create index autosaves_of_user on autosaves (user_id);
create index autosaves_by_age on autosaves (updated_at);
grant select, insert, update, delete on autosaves to ibid_service;
alter table autosaves enable row level security;
create policy of_the_user on autosaves
  using ((wiki_id = (select own_wiki()) and user_id = (select own_user())) or (select is_service()));

-- A person has few; only the first write of each counts them. The lock makes concurrent ones count one after the other.
create function limit_autosaves() returns trigger language plpgsql security definer as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('autosaves ' || new.wiki_id || ' ' || new.user_id, 0));
  if (select count(*) from autosaves s where s.wiki_id = new.wiki_id and s.user_id = new.user_id) > 100 then
    raise exception 'a person has too many autosaves' using errcode = '23514', constraint = 'autosaves_of_a_person';
  end if;
  return null;
end $$;
comment on function limit_autosaves is 'At most 100 of each person in a wiki.';
create trigger limit_autosaves after insert on autosaves for each row execute function limit_autosaves();

create trigger usage_on_insert after insert on autosaves
  referencing new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_update after update on autosaves
  referencing old table as old_rows new table as new_rows for each statement execute function count_stored_files();
create trigger usage_on_delete after delete on autosaves
  referencing old table as old_rows for each statement execute function count_stored_files();

create or replace function actual_usage(workspace text) returns table (
  bytes bigint, pages bigint, files bigint, wikis bigint, invitations bigint, keys bigint, jobs bigint
) language sql stable security definer as $$  with mine as (
    select k.wiki_id from wikis k where k.workspace_id = workspace or (k.workspace_id is null and k.deleted_from = workspace)
  ), uploaded as (
    select coalesce(sum(upload_file_bytes(f.status, f.kind, f.sha256, f.byte_size)), 0)::bigint as bytes,
      count(*) filter (where f.kind = 'file' and f.status = 'pending') as files
    from upload_files f where f.wiki_id in (select wiki_id from mine)
  )
  select u.bytes
      + coalesce((select sum(octet_length(r.markdown) + octet_length(r.html)) from revisions r where r.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(s.byte_size) from sources s where s.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(a.byte_size) from attachments a where a.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(d.byte_size) from autosaves d where d.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(e.byte_size) from exports e where e.wiki_id in (select wiki_id from mine)), 0)::bigint
      + coalesce((select sum(i.byte_size) from imports i where i.wiki_id in (select wiki_id from mine)), 0)::bigint,
    (select count(*) from pages p where p.wiki_id in (select wiki_id from mine)),
    u.files,
    (select count(*) from wikis k where k.workspace_id = workspace),
    (select count(*) from invitations i where i.workspace_id = workspace and i.state = 'pending'),
    (select count(*) from api_keys k where k.workspace_id = workspace and k.revoked_at is null),
    (select count(*) from jobs j where j.wiki_id in (select wiki_id from mine) and is_open_job(j.status, j.kind))
  from uploaded u
$$;

do $$
declare
  each text;
begin
  foreach each in array array['actual_usage', 'limit_autosaves'] loop
    execute format('alter function %s set search_path = %I, pg_temp', each::regproc, current_schema());
  end loop;
end $$;
