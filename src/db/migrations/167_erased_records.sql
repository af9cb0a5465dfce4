-- works with: 102_tree_version.sql
-- A request that was changing a session or a key of an account while it was deleted left its record as it was, with the
-- address that it came from.
create or replace function erase_account(emptied text[]) returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
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
  -- Of workspaces that have no members any more, and of this account, only who did what and when.
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id = any (gone);
  delete from users u where u.user_id = me;
  -- Its sessions and keys are gone, so that a request which was changing one has ended, and its record is seen.
  update audit_events e set before = '{}', after = '{}', address = '' where e.workspace_id is null and e.actor_id = me;
  return true;
end $$;
