create unlogged table limit_counts (
  bucket  bytea primary key,
  used    int not null,
  ends_at timestamptz not null
);
comment on table limit_counts is 'How often something was done in the window that ends at ends_at, by all processes together. bucket is the SHA-256 of the policy and of whom it counts. Unlogged: a crash of the database costs no more than a window.';
create index limit_counts_by_end on limit_counts (ends_at);

-- The invitations of the last hour are counted here.
create index audit_events_of_invitation_mail on audit_events (workspace_id, created_at)
  where type in ('invitation.created', 'invitation.resent');

grant select, insert, update, delete on limit_counts to ibid_service;
