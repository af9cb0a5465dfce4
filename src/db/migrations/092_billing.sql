-- Subscriptions at a payment provider: who its customer is, what is due, and until when an unpaid workspace may write.

alter table subscriptions
  add column subscription_id      text collate "C" not null default '',
  add column currency             text collate "C" not null default '',
  add column amount_due           bigint not null default 0,
  add column cancel_at_period_end boolean not null default false,
  add column unpaid_since         timestamptz,
  add column writes_end_at        timestamptz,
  add column dunning_stage         text collate "C" not null default '';
comment on table subscriptions is
  'The plan of a workspace: a copy of what the payment provider has (subscription_id), or what the operator has set (subscription_id is empty). No row: none. amount_due: of open invoices, in minor units. unpaid_since, writes_end_at: of the oldest unpaid invoice, and of the grace after it; writes are refused from writes_end_at on. dunning_stage: what the owners were told last.';
grant insert, update, delete on subscriptions to ibid_service;

create table billing_customers (
  workspace_id       text collate "C" primary key references workspaces on delete cascade,
  customer_id        text collate "C" not null unique,
  revision           bigint not null default 0,
  changing_until     timestamptz,
  checkout_opened_at timestamptz,
  synced_at          timestamptz
);
comment on table billing_customers is
  'The customer of a workspace at the payment provider. revision: counts changes of its subscription, so that a request to the provider can be repeated safely. changing_until: a change is being made by one process. synced_at: when the provider was asked for what subscriptions has.';
grant select, insert, update, delete on billing_customers to ibid_service;
alter table billing_customers enable row level security;
create policy of_the_workspaces on billing_customers
  using (workspace_id = any ((select own_workspaces())::text[]) or (select is_service()));

create table payment_events (
  event_id    text collate "C" primary key,
  type        text collate "C" not null,
  customer_id text collate "C" not null,
  created_at  timestamptz not null,
  received_at timestamptz not null default now()
);
comment on table payment_events is
  'Messages of the payment provider that were received, each once. Nothing in them is believed: they cause a question to the provider.';
create index payment_events_by_age on payment_events (received_at);
grant select, insert, delete on payment_events to ibid_service;
alter table payment_events enable row level security;
create policy of_the_service on payment_events using ((select is_service()));

create function is_read_only(workspace text) returns boolean language sql stable security definer as $$
  select exists (select from subscriptions s where s.workspace_id = workspace and s.writes_end_at <= now())
$$;
comment on function is_read_only is 'Whether a workspace has not paid until the end of its grace. Decided by the clock alone, so no job has to run for it.';

create function customers_to_sync() returns table (wiki_id text, workspace_id text) language sql stable security definer as $$
  select null::text, c.workspace_id from billing_customers c left join subscriptions s on s.workspace_id = c.workspace_id
  where c.synced_at is null or c.synced_at < now() - interval '1 day'
    or (c.checkout_opened_at > now() - interval '1 day' and s.workspace_id is null and c.synced_at < now() - interval '1 minute')
    or (s.subscription_id <> '' and s.period_end <= now() and c.synced_at < now() - interval '10 minutes')
    or (s.writes_end_at <= now() and s.dunning_stage <> 'read_only')
    or (s.writes_end_at <= now() + interval '3 days' and s.dunning_stage = 'payment_failed')
$$;
comment on function customers_to_sync is 'For the scheduler: workspaces whose subscription is compared with the provider: once a day, and sooner where a message of the provider would be due.';

create function enqueue_seat_sync() returns trigger language plpgsql security definer as $$
begin
  insert into background_jobs (name, lane, key, workspace_id, input)
  select 'sync-subscription', 'billing', c.workspace_id, c.workspace_id, '{}'
  from billing_customers c join workspaces w on w.workspace_id = c.workspace_id
  where c.workspace_id = case when tg_op = 'DELETE' then old.workspace_id else new.workspace_id end
  on conflict do nothing;
  return null;
end $$;
comment on function enqueue_seat_sync is 'Who becomes a member, or stops being one, changes the quantity that is paid; whatever way it happened.';
create trigger seat_sync after insert or delete or update of status, workspace_id on memberships
  for each row execute function enqueue_seat_sync();

do $$ declare each text; begin
  foreach each in array array['is_read_only', 'customers_to_sync', 'enqueue_seat_sync'] loop
    execute format('alter function %s set search_path = %I, pg_temp', each::regproc, current_schema());
  end loop;
end $$;
