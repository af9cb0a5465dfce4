-- Where the files of a wiki are on the site that they are written for.
alter table wikis add column site_root text;
comment on column wikis.site_root is 'The path of the site at which the root of an uploaded folder is, with a slash at both ends; null if absolute links begin at the root of the upload.';
