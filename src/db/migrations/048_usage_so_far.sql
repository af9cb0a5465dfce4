-- migration: batches
insert into workspace_usage (workspace_id, transaction_id, bytes, pages, files, wikis, invitations, keys, jobs)
select w.workspace_id, 0, a.bytes - coalesce(c.bytes, 0), a.pages - coalesce(c.pages, 0), a.files - coalesce(c.files, 0),
  a.wikis - coalesce(c.wikis, 0), a.invitations - coalesce(c.invitations, 0), a.keys - coalesce(c.keys, 0),
  a.jobs - coalesce(c.jobs, 0)
from (
  select s.workspace_id from workspaces s
  where not exists (select from workspace_usage m where m.workspace_id = s.workspace_id and m.transaction_id = 0)
  limit 10
) w cross join lateral actual_usage(w.workspace_id) a cross join lateral (
  select sum(u.bytes) as bytes, sum(u.pages) as pages, sum(u.files) as files, sum(u.wikis) as wikis,
    sum(u.invitations) as invitations, sum(u.keys) as keys, sum(u.jobs) as jobs
  from workspace_usage u where u.workspace_id = w.workspace_id
) c
on conflict do nothing
