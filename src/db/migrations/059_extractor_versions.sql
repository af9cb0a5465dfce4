-- Verification reads a source's file again, and can tell an altered text from one that is read in another way now.

alter table sources add column extractor_version int not null default 0;
comment on column sources.extractor_version is 'Which version of the extractor of its kind read the text; see src/documents/extractor-versions.json. 0: one before they were numbered.';
