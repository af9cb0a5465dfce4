-- A record of the audit log says what was changed and how, not only what came of it.
alter table audit_events
  add column credential_kind text collate "C" not null default '',
  add column target_kind     text collate "C",
  add column target_id       text collate "C",
  add column before          jsonb not null default '{}',
  add column after           jsonb not null default '{}';

update audit_events set
  credential_kind = case
    when credential_id is null then ''
    when credential_id in ('command', 'widget') then credential_id
    when credential_id like 'key\_%' then 'key'
    else 'identity' end,
  target_kind = split_part(type, '.', 1),
  target_id = coalesce(case split_part(type, '.', 1)
    when 'workspace' then workspace_id
    when 'organization_membership' then details ->> 'membership_id'
    when 'invitation' then details ->> 'invitation_id'
    when 'api_key' then details ->> 'key_id'
    when 'wiki' then details ->> 'wiki_id'
    when 'upload' then details ->> 'upload_id' end, actor_id, ''),
  after = details;

alter table audit_events
  alter column target_kind set not null,
  alter column target_id set not null,
  drop column details;

comment on table audit_events is 'One record for each write, made by the statement that writes. before and after hold the fields that it changed: made, nothing before; deleted, nothing after. Never a secret or a hash of one.';
