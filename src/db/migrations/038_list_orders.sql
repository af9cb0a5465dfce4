-- migration: concurrently
-- A list goes on by the keys that it is ordered by. These had no index on theirs, so that each page of them read the whole list
-- (of invitations: those of every workspace) and sorted it, and each record of the trash read all of the trash to count.
create index concurrently if not exists invitations_by_workspace on invitations (workspace_id, invitation_id);
create index concurrently if not exists attachments_by_page on attachments (wiki_id, page_id, attachment_id);
create index concurrently if not exists pages_trash on pages (wiki_id, page_id) where trashed_with = page_id;
create index concurrently if not exists pages_trashed_with on pages (wiki_id, trashed_with) where trashed_at is not null;

-- The pages that link to one, in the order of their ids.
create index concurrently if not exists page_links_to on page_links (wiki_id, to_page_id, from_page_id);
drop index concurrently if exists page_links_back;
