-- works with: 102_tree_version.sql
-- What a person's own data is, to be exported, and how an account is deleted.

-- What people made stays when their account is deleted, as that of people who were never users of this service (imported_people):
-- an id that belongs to no user. Their own rows go with the user, as before.
alter table workspaces drop constraint workspaces_created_by_fkey;
alter table wikis drop constraint wikis_created_by_fkey;
alter table invitations drop constraint invitations_invited_by_fkey;

-- Workspaces go with the account of the only person in them; the rows of their deleted wikis go a little later, and are not
-- counted any more.
create or replace function add_wiki_usage(wiki text, bytes bigint default 0, pages bigint default 0, files bigint default 0, jobs bigint default 0)
  returns void language plpgsql security definer as $$
begin
  if ($2, $3, $4, $5) = (0, 0, 0, 0) then return; end if;
  perform add_usage(coalesce(k.workspace_id, k.deleted_from), $2, $3, $4, jobs => $5) from wikis k
  where k.wiki_id = wiki
    and (k.workspace_id is not null or exists (select from workspaces w where w.workspace_id = k.deleted_from));
end $$;
create or replace function workspaces_to_recount(age interval) returns table (wiki_id text, workspace_id text)
  language sql stable security definer as $$
  select null::text, u.workspace_id from workspace_usage u join workspaces w on w.workspace_id = u.workspace_id
  where u.transaction_id = 0 and u.counted_at < now() - age
$$;

create function workspaces_left(person text) returns setof text language sql stable security definer as $$
  select distinct e.workspace_id from audit_events e
  where e.type = 'organization_membership.deleted' and e.before ->> 'user_id' = person and e.workspace_id is not null
$$;
comment on function workspaces_left is 'The workspaces that a person was a member of. Of all records about them there this one is the last, and so the last to be purged.';

create function account_workspaces() returns table (
  workspace_id text, name text, membership_id text, is_only_owner boolean, other_members int, wikis int, is_paid boolean, is_held boolean)
  language plpgsql security definer as $$
declare
  me constant text := own_user();
begin
  if coalesce(me, '') = '' then return; end if;
  perform from workspaces w
  where w.workspace_id in (select m.workspace_id from memberships m where m.user_id = me union select * from workspaces_left(me))
  order by w.workspace_id for no key update;
  -- A statement of its own sees what was committed while this one waited for the locks.
  return query
    select w.workspace_id, case when m.membership_id is null then '' else w.name end, m.membership_id,
      coalesce(m.role = 'owner' and m.status = 'active', false) and not exists (
        select from memberships o
        where o.workspace_id = w.workspace_id and o.role = 'owner' and o.status = 'active' and o.user_id <> me),
      (select count(*)::int from memberships o where o.workspace_id = w.workspace_id and o.user_id <> me),
      (select count(*)::int from wikis k where k.workspace_id = w.workspace_id),
      exists (
        select from subscriptions s
        where s.workspace_id = w.workspace_id and s.subscription_id <> '' and not s.cancel_at_period_end)
      or exists (
        select from billing_customers c
        where c.workspace_id = w.workspace_id and c.checkout_opened_at > now() - interval '1 day'
          and not exists (select from subscriptions s where s.workspace_id = c.workspace_id)),
      w.held_since is not null
    from (
      select t.workspace_id from memberships t where t.user_id = me union select * from workspaces_left(me)
    ) mine (workspace_id)
    join workspaces w on w.workspace_id = mine.workspace_id
    left join memberships m on m.workspace_id = w.workspace_id and m.user_id = me
    order by w.workspace_id;
end $$;
comment on function account_workspaces is 'The workspaces that the caller is or was a member of (then without name and membership_id), and what their account''s deletion is decided by, under locks on all of them. is_paid: a plan renews, or may be being paid for.';

create function without_person(record jsonb) returns jsonb language sql immutable parallel safe as $$
  select record - '{email,display_name,avatar_url}'::text[]
$$;
comment on function without_person is 'Details of an audit record without who it is about.';

create function erase_account(emptied text[]) returns boolean language plpgsql security definer as $$
declare
  me constant text := own_user();
  person users;
  gone text[];
begin
  select u.* into person from users u where u.user_id = me for update;
  if not found then return false; end if;
  gone := array(
    select w.workspace_id from workspaces w
    where w.workspace_id = any (emptied)
      and not exists (select from memberships m where m.workspace_id = w.workspace_id)
      and not exists (select from wikis k where k.workspace_id = w.workspace_id));
  delete from workspaces w where w.workspace_id = any (gone);
  delete from workspace_usage u where u.workspace_id = any (gone);

  -- Of workspaces under a legal hold nothing is taken. Members of one are refused before; here they may be invited to one.
  update audit_events e set before = without_person(e.before), after = without_person(e.after)
  where e.type = 'organization_membership.deleted' and e.before ->> 'user_id' = me
    and not exists (select from workspaces w where w.workspace_id = e.workspace_id and w.held_since is not null);
  if person.email <> '' then
    update background_jobs j set error = replace(j.error, person.email, '') where position(person.email in j.error) > 0;
  end if;
  -- Another user may have the same address, by another way to sign in, and one that was never verified may be a stranger's.
  if person.email <> '' and person.email_verified
    and not exists (select from users o where o.email = person.email and o.user_id <> me)
  then
    delete from email_links l where l.email = person.email;
    delete from sign_in_links l where l.email = person.email;
    delete from password_guesses g where g.email = person.email;
    delete from background_jobs j where j.input ->> 'email' = person.email;
    update audit_events e set before = without_person(e.before), after = without_person(e.after),
      target_id = case when e.target_id = person.email then '' else e.target_id end
    where e.after ->> 'email' = person.email
      and not exists (select from workspaces w where w.workspace_id = e.workspace_id and w.held_since is not null);
    delete from invitations i where i.email = person.email
      and not exists (select from workspaces w where w.workspace_id = i.workspace_id and w.held_since is not null);
    update imported_people p set name = '', email = '' where p.email = person.email
      and not exists (
        select from wikis k join workspaces w on w.workspace_id = k.workspace_id
        where k.wiki_id = p.wiki_id and w.held_since is not null);
  end if;
  -- Of this account, and of workspaces that have no members any more, only who did what and when.
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id is null and e.actor_id = me;
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id = any (gone);
  delete from users u where u.user_id = me;
  return true;
end $$;
comment on function erase_account is 'Deletes the caller''s user with all that is theirs alone, these workspaces where they have neither members nor wikis, and their name and address wherever else they are. Records and texts keep the id, which belongs to no user then.';

-- Rows that a person made in the wikis of workspaces that they are an active member of now, for the export of their data: in the order
-- of their keys, behind the given ones. Row-level security knows one wiki at a time; these ask for the caller's own rows alone. How
-- many are answered is written down, and bitmaps are off, so that PostgreSQL walks the index of a person's rows in its order, from the
-- given keys on: also where it knows nothing of the tables yet. array_position is no condition of an index, which would begin at the
-- first row of the wiki each time.
create function caller_wikis() returns text[] language sql stable security definer as $$
  select array(select k.wiki_id from wikis k where k.workspace_id = any ((select own_workspaces())::text[]))
$$;
comment on function caller_wikis is 'The wikis of the workspaces that the caller is an active member of.';

create function caller_revisions(after_wiki text, after_page text, after_revision int, writers text[])
  returns table (wiki_id text, page_id text, revision int, path text, title text, origin text, created_at timestamptz, markdown text)
  language sql stable security definer set enable_bitmapscan = off as $$
  with found as materialized (
    select r.wiki_id, r.page_id, r.revision, r.title, r.origin, r.created_at, octet_length(r.markdown) as bytes
    from revisions r
    where r.created_by = (select own_user()) and (r.wiki_id, r.page_id, r.revision) > (after_wiki, after_page, after_revision)
      and array_position((select caller_wikis()), r.wiki_id) is not null
    order by r.wiki_id, r.page_id, r.revision limit 200
  ), fitting as (
    -- The first one is always there, however long it is.
    select f.*, sum(f.bytes) over (order by f.wiki_id, f.page_id, f.revision) - f.bytes as before from found f
  )
  select f.wiki_id, f.page_id, f.revision, t.path, f.title, f.origin, f.created_at, t.markdown
  from fitting f cross join lateral (
    select p.path,
      -- As everywhere: what is in the trash is not read, and drafts only by those who may write.
      case when p.trashed_at is null and (p.status <> 'draft' or exists (
        select from wikis k join memberships m on m.workspace_id = k.workspace_id
        where k.wiki_id = f.wiki_id and m.user_id = own_user() and m.status = 'active' and m.role = any (writers)))
      then r.markdown end as markdown
    from pages p, revisions r
    where p.wiki_id = f.wiki_id and p.page_id = f.page_id
      and r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.revision = f.revision
    offset 0
  ) t
  where f.before < 1048576
  order by f.wiki_id, f.page_id, f.revision
$$;
comment on function caller_revisions is 'Revisions that the caller wrote, with their texts where they may read the page now: at most 200, and no more after 1 MiB of text. writers: the roles that see drafts.';

create function caller_autosaves(after_wiki text, after_id text)
  returns table (wiki_id text, autosave_id text, page_id text, title text, markdown text, created_at timestamptz, updated_at timestamptz)
  language sql stable security definer as $$
  select a.wiki_id, a.autosave_id, a.page_id, a.title, a.markdown, a.created_at, a.updated_at from autosaves a
  where a.user_id = (select own_user()) and a.wiki_id = any ((select caller_wikis())::text[])
    and (a.wiki_id, a.autosave_id) > (after_wiki, after_id)
  order by a.wiki_id, a.autosave_id limit 1
$$;
comment on function caller_autosaves is 'The next unsaved text of the caller; one, as it may be long.';

create function caller_stars(after_wiki text, after_page text)
  returns table (wiki_id text, page_id text, created_at timestamptz) language sql stable security definer as $$
  select s.wiki_id, s.page_id, s.created_at from starred_pages s
  where s.user_id = (select own_user()) and s.wiki_id = any ((select caller_wikis())::text[])
    and (s.wiki_id, s.page_id) > (after_wiki, after_page)
  order by s.wiki_id, s.page_id limit 500
$$;
comment on function caller_stars is 'Pages that the caller has starred.';

create function caller_searches(after_wiki text, after_id text)
  returns table (wiki_id text, saved_search_id text, name text, query text, sort text, created_at timestamptz, updated_at timestamptz)
  language sql stable security definer as $$
  select s.wiki_id, s.saved_search_id, s.name, s.query, s.sort, s.created_at, s.updated_at from saved_searches s
  where s.user_id = (select own_user()) and s.wiki_id = any ((select caller_wikis())::text[])
    and (s.wiki_id, s.saved_search_id) > (after_wiki, after_id)
  order by s.wiki_id, s.saved_search_id limit 500
$$;
comment on function caller_searches is 'Searches that the caller has saved.';

create function caller_uploads(after_wiki text, after_id text)
  returns table (wiki_id text, upload_id text, status text, summary text, created_at timestamptz, files json)
  language sql stable security definer set enable_bitmapscan = off as $$
  select u.wiki_id, u.upload_id, u.status, u.summary, u.created_at, (
    select coalesce(json_agg(json_build_object(
      'filename', f.filename, 'content_type', f.content_type, 'byte_size', f.byte_size, 'status', f.status) order by f.file_no), '[]')
    from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind = 'file')
  from uploads u
  where u.created_by = (select own_user()) and (u.wiki_id, u.upload_id) > (after_wiki, after_id)
    and array_position((select caller_wikis()), u.wiki_id) is not null
  order by u.wiki_id, u.upload_id limit 10
$$;
comment on function caller_uploads is 'Uploads that the caller made, with the names of their files, of which there may be a thousand.';

create function caller_attachments(after_wiki text, after_id text)
  returns table (wiki_id text, attachment_id text, page_id text, filename text, content_type text, byte_size bigint, sha256 text,
    created_at timestamptz)
  language sql stable security definer set enable_bitmapscan = off as $$
  select a.wiki_id, a.attachment_id, a.page_id, a.filename, a.content_type, a.byte_size, a.sha256, a.created_at from attachments a
  where a.created_by = (select own_user()) and (a.wiki_id, a.attachment_id) > (after_wiki, after_id)
    and array_position((select caller_wikis()), a.wiki_id) is not null
  order by a.wiki_id, a.attachment_id limit 500
$$;
comment on function caller_attachments is 'Attachments that the caller added.';

create function caller_account_events(after_time timestamptz, after_id text) returns setof audit_events
  language sql stable security definer as $$
  select e.* from audit_events e
  where e.workspace_id is null and e.actor_id = (select own_user()) and (e.created_at, e.event_id) > (after_time, after_id)
  order by e.created_at, e.event_id limit 500
$$;
comment on function caller_account_events is 'What the caller did to their account, which is in the log of no workspace.';

create function caller_invitations(after_id text)
  returns table (invitation_id text, workspace_id text, workspace_name text, email text, role text, state text, created_at timestamptz,
    expires_at timestamptz)
  language sql stable security definer as $$
  select i.invitation_id, i.workspace_id, w.name, i.email, i.role, i.state, i.created_at, i.expires_at
  from users u join invitations i on i.email = u.email join workspaces w on w.workspace_id = i.workspace_id
  where u.user_id = (select own_user()) and u.email_verified and u.email <> '' and i.invitation_id > after_id
  order by i.invitation_id limit 500
$$;
comment on function caller_invitations is 'Invitations to the verified address of the caller, in whatever state.';

do $$
declare f text;
begin
  foreach f in array array[
    'add_wiki_usage(text, bigint, bigint, bigint, bigint)', 'workspaces_to_recount(interval)', 'workspaces_left(text)',
    'account_workspaces()', 'erase_account(text[])', 'caller_wikis()', 'caller_revisions(text, text, int, text[])',
    'caller_autosaves(text, text)', 'caller_stars(text, text)', 'caller_searches(text, text)', 'caller_uploads(text, text)',
    'caller_attachments(text, text)', 'caller_account_events(timestamptz, text)', 'caller_invitations(text)']
  loop
    execute format('alter function %s set search_path = %I, pg_temp', f, current_schema());
  end loop;
end $$;
