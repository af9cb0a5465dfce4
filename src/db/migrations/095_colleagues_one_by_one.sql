-- Who shows one colleague, such as the name of who changed a page last, read all members of the workspace for it: the planner made
-- a hash of them. Now each user is looked up among its own memberships; `offset 0` keeps this order.

alter policy self_and_colleagues on users using (
  user_id = (select own_user()) or (select is_service())
  or exists (
    select from (select m.workspace_id from memberships m where m.user_id = users.user_id offset 0) m
    where m.workspace_id = any ((select own_workspaces())::text[]) offset 0));
