-- migration: batches
-- works with: 102_tree_version.sql
with of_open_jobs as (
  update jobs j set workspace_id = w.workspace_id from wikis w
  where w.wiki_id = j.wiki_id and w.workspace_id is not null and j.workspace_id = '' and j.status in ('queued', 'running')
)
update workspaces set active_members = active_members_of(workspace_id)
where workspace_id in (select workspace_id from workspaces where active_members is null limit 500);
