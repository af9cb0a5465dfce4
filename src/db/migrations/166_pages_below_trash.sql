-- migration: batches
-- works with: any
-- A page whose text was written at the moment when one above it went to the trash stayed, below a page that is not there. It goes
-- where its page above is, and comes back with it.
update pages p set trashed_at = above.trashed_at, trashed_by = above.trashed_by, trashed_with = above.trashed_with
from (
  select c.wiki_id, c.page_id, t.trashed_at, t.trashed_by, t.trashed_with
  from pages t join pages c on c.wiki_id = t.wiki_id and c.parent_page_id = t.page_id and c.trashed_at is null
  where t.trashed_at is not null limit 500) above
where p.wiki_id = above.wiki_id and p.page_id = above.page_id;
