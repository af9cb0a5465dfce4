-- Somebody may be in a thousand workspaces. An array is searched from its begin for every row, and the list of workspaces was so
-- searched a million times; `in` makes a hash of it once in a statement. One's own memberships are known by their user.

alter policy of_the_workspaces on workspaces using (workspace_id in (select unnest(own_workspaces())));

alter policy of_the_workspaces on memberships
  using (user_id = (select own_user()) or workspace_id = any ((select own_workspaces())::text[]));
