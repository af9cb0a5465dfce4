-- migration: concurrently
-- works with: any
-- Who claims a job read and sorted all that were due: 10,000 letters that wait made each claim as slow as reading them. It asks each
-- workspace for its oldest only where those that wait longest are all of workspaces with running jobs.
create index concurrently if not exists background_jobs_queued_by_workspace on background_jobs (lane, coalesce(workspace_id, ''), run_after)
  where status = 'queued';
