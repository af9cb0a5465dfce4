-- works with: 210_wikis_to_index.sql
-- Accounts of one person become one user with several identities. Authorship is a fact that others rely on, so the user who has
-- written stays, and two who have written stay apart.
create function merge_users(kept text, merged text, session text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  theirs text[];
  their_wikis text[];
begin
  if kept = merged then return 'same'; end if;
  perform from users u where u.user_id in (kept, merged) order by u.user_id for update;
  if (select count(*) from users u where u.user_id in (kept, merged)) < 2 then return 'gone'; end if;
  theirs := array(select m.workspace_id from memberships m where m.user_id = merged);
  perform from workspaces w where w.workspace_id = any (theirs) order by w.workspace_id for no key update;
  their_wikis := array(select k.wiki_id from wikis k where k.workspace_id = any (theirs));
  if exists (select from revisions r where r.created_by = merged)
    or exists (select from uploads u where u.created_by = merged)
    or exists (select from attachments a where a.created_by = merged)
    or exists (
      select from pages p where p.wiki_id = any (their_wikis) and merged in (p.created_by, p.updated_by, p.trashed_by))
  then
    return 'has_written';
  end if;
  if exists (select from memberships m where m.user_id = kept and m.workspace_id = any (theirs)) then
    return 'both_members';
  end if;
  update identities i set user_id = kept where i.user_id = merged;
  update memberships m set user_id = kept where m.user_id = merged;
  update workspaces w set created_by = kept where w.created_by = merged and w.workspace_id = any (theirs);
  update workspaces w set held_by = kept where w.held_by = merged and w.workspace_id = any (theirs);
  update wikis k set created_by = kept where k.created_by = merged and k.wiki_id = any (their_wikis);
  update invitations i set invited_by = kept where i.invited_by = merged and i.workspace_id = any (theirs);
  update templates t set created_by = kept where t.created_by = merged and t.wiki_id = any (their_wikis);
  update exports e set created_by = kept where e.created_by = merged and e.wiki_id = any (their_wikis);
  update imports i set created_by = kept where i.created_by = merged and i.wiki_id = any (their_wikis);
  -- What else opens the second account ends with it: it would open the first, which its holder has not proved to be.
  update api_keys k set user_id = kept where k.user_id = merged and k.workspace_id is not null;
  update sessions s set user_id = kept where s.user_id = merged and s.session_id = session;
  update refresh_tokens r set user_id = kept where r.user_id = merged and r.session_id = session;
  update autosaves a set user_id = kept where a.user_id = merged;
  update starred_pages s set user_id = kept where s.user_id = merged and not exists (
    select from starred_pages o where o.wiki_id = s.wiki_id and o.user_id = kept and o.page_id = s.page_id);
  update saved_searches s set user_id = kept where s.user_id = merged and not exists (
    select from saved_searches o where o.wiki_id = s.wiki_id and o.user_id = kept and o.name_key = s.name_key);
  update users u set
      email = case when not u.email_verified and m.email_verified then m.email else u.email end,
      email_verified = u.email_verified or m.email_verified,
      last_workspace_id = coalesce(u.last_workspace_id, m.last_workspace_id)
    from users m where u.user_id = kept and m.user_id = merged;
  delete from users u where u.user_id = merged;
  return '';
end $$;
comment on function merge_users(text, text, text) is 'Gives the identities, memberships and belongings of the second user to the first, and deletes the second with its sessions but this one, its personal keys and its password. "" where that is done, else why not, and nothing is changed: has_written (the second has), both_members (of one workspace), same, gone.';

create function connect_accounts(link bytea, session text) returns table (outcome text, kept text, merged text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  me users;
  address text;
  other text;
begin
  select u.* into me from users u where u.user_id = own_user();
  perform from email_links l
    where l.email = (select o.email from email_links o where o.token_hash = link and o.expires_at > now())
    order by l.link_id for update;
  select l.email into address from email_links l where l.token_hash = link and l.expires_at > now();
  kept := me.user_id;
  merged := me.user_id;
  if address is null then
    outcome := 'link';
  elsif not me.email_verified or me.email <> address then
    outcome := 'address';
  else
    select i.user_id into other from identities i where i.issuer = 'ibid' and i.subject = address;
    if other is null or other = me.user_id then
      outcome := 'none';
    else
      outcome := merge_users(me.user_id, other, session);
      merged := other;
      if outcome = 'has_written' then
        outcome := merge_users(other, me.user_id, session);
        kept := other;
        merged := me.user_id;
      end if;
    end if;
  end if;
  if outcome = '' then
    update email_links l set token_hash = null where l.email = address and l.token_hash is not null;
  end if;
  return next;
end $$;
comment on function connect_accounts(bytea, text) is 'Makes one user of the caller, whose address their issuer verified, and of the user who signs in by mail to this address, which the caller proves by the secret of a sign-in link.';

create function has_other_account() returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (
    select from users u join identities i on i.issuer = 'ibid' and i.subject = u.email and i.user_id <> u.user_id
    where u.user_id = own_user() and u.email_verified)
$$;
comment on function has_other_account() is 'Whether another user signs in by mail to the verified address of the caller.';
