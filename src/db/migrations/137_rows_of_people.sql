-- migration: concurrently
-- works with: any
-- What a person made, in the order in which their data is exported, and where their name and address are.
create index concurrently if not exists revisions_by_author on revisions (created_by, wiki_id, page_id, revision);
create index concurrently if not exists uploads_by_creator on uploads (created_by, wiki_id, upload_id);
create index concurrently if not exists attachments_by_creator on attachments (created_by, wiki_id, attachment_id);
create index concurrently if not exists audit_events_of_former_members on audit_events ((before ->> 'user_id'))
  where type = 'organization_membership.deleted';
create index concurrently if not exists audit_events_with_address on audit_events ((after ->> 'email')) where after ->> 'email' is not null;
create index concurrently if not exists invitations_to on invitations (email);
create index concurrently if not exists imported_people_by_email on imported_people (email);
