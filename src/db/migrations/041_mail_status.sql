-- migration: concurrently
-- Validated by itself, as reading the table takes its time.
alter table invitations validate constraint invitations_mail_status_check;
