-- One job at a time let the archive of one workspace keep the single file of another waiting for minutes. Workers now do
-- several jobs at once; whose workspace has the fewest of them in work comes first. Which workspace a job belongs to is
-- not seen by the service, which works for no tenant when it looks for work, so a function says it.
create function jobs_to_claim(any_of text[], newcomers boolean) returns table (wiki_id text, job_id text, attempt int)
language sql stable security definer as $$
  with open as (
    select j.*, coalesce(w.workspace_id, '') as workspace_id, j.status = 'running' and j.lease_until >= now() as in_work
    from jobs j join wikis w on w.wiki_id = j.wiki_id where j.status in ('queued', 'running') and (select is_service())
  ), counted as (
    select o.*, count(*) filter (where o.in_work) over (partition by o.workspace_id) as working from open o
  )
  select c.wiki_id, c.job_id, c.attempt from counted c
  where c.run_after <= now() and c.kind = any (any_of) and not (newcomers and c.working > 0)
    and (c.status = 'queued' or c.lease_until < now() - make_interval(secs => greatest(c.failures - 1, 0) ^ 2))
    and not exists (
      select from open other where other.wiki_id = c.wiki_id and other.started_at is not null and other.job_id <> c.job_id)
  order by c.working, c.run_after, c.job_id limit 5
$$;
comment on function jobs_to_claim is
  'For the queue, which belongs to no workspace. newcomers: only jobs of workspaces of which nothing is in work.';
do $$ begin
  execute format('alter function jobs_to_claim set search_path = %I, pg_temp', current_schema());
end $$;
