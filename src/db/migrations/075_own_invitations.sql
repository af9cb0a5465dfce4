-- Who signs in is shown the invitations to their address, and accepts one without the link of its mail.

create function own_invitations() returns table (
  invitation_id text, workspace_name text, inviter_name text, email text, role text, expires_at timestamptz
) language sql stable security definer as $$
  select i.invitation_id, w.name, b.display_name, i.email, i.role, i.expires_at
  from users u
  join invitations i on i.email = u.email and i.state = 'pending' and i.expires_at > now()
  join workspaces w on w.workspace_id = i.workspace_id
  join users b on b.user_id = i.invited_by
  where u.user_id = own_user() and u.email_verified and not exists (
    select from memberships m where m.workspace_id = i.workspace_id and m.user_id = u.user_id)
$$;
comment on function own_invitations is 'The pending invitations to the verified address of the caller, whose workspaces they cannot see yet.';

create function open_own_invitation(invitation text) returns boolean language plpgsql security definer as $$
declare
  opened text;
begin
  select i.workspace_id into opened from users u
  join invitations i on i.email = u.email and i.invitation_id = invitation and i.state = 'pending' and i.expires_at > now()
  where u.user_id = own_user() and u.email_verified;
  if opened is null then
    return false;
  end if;
  perform set_config('ibid.workspaces', trim(coalesce(current_setting('ibid.workspaces', true), '') || ' ' || opened), true);
  return true;
end $$;
comment on function open_own_invitation is 'Shows the workspace of a pending invitation to the verified address of the caller, until the end of the transaction, as the secret of its link does.';

do $$ begin
  execute format('alter function own_invitations set search_path = %I, pg_temp', current_schema());
  execute format('alter function open_own_invitation set search_path = %I, pg_temp', current_schema());
end $$;
