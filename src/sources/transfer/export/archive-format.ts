import { type Static, Type } from 'typebox';
import { Record } from '../../../platform/core/records.ts';

/**
 * Files of a wiki archive. Lists are files of lines with a JSON object each, in the order of page paths; see
 * docs/decisions/014-archives.md.
 */
export const MANIFEST_FILE = 'ibid.json';
export const PEOPLE_FILE = 'people.jsonl';
export const PAGES_FILE = 'pages.jsonl';
export const HISTORY_FILE = 'history.jsonl';
export const ATTACHMENTS_FILE = 'attachments.jsonl';

/** Supported versions of the format. A reader of version 1 may ignore unknown fields. */
export const FORMAT = 'ibid-wiki';
export const FORMAT_VERSION = 1;

export const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.Integer(),
  wiki: Type.Object({
    wiki_id: Type.String(),
    slug: Type.String(),
    title: Type.String(),
    description: Type.String(),
    home_page_id: Type.Optional(Type.String({ description: 'The home page of the wiki, if one was chosen.' })),
  }),
  seen_by: Type.Optional(
    Type.String({ description: 'The user who exported the wiki. Restricted pages that they do not see are missing.' }),
  ),
  pages: Type.Integer({ minimum: 0 }),
  revisions: Type.Integer({ minimum: 0 }),
  attachments: Type.Integer({ minimum: 0 }),
});
export type Manifest = Static<typeof Manifest>;

const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Origin = Type.Enum(['authored', 'compiled']);
const User = Type.String({ maxLength: 64 });
const PageId = Type.String({ pattern: '^page_[0-9a-hjkmnp-tv-z]{26}$' });
const Path = Type.String({ minLength: 1, maxLength: 1_024 });

export const ArchivedPerson = Type.Object({
  user_id: User,
  name: Type.String({ maxLength: 1_000 }),
  email: Type.String({ maxLength: 320 }),
});
export type ArchivedPerson = Static<typeof ArchivedPerson>;

export const ArchivedPage = Type.Object({
  page_id: PageId,
  path: Path,
  file: Type.String({ description: 'Path of the Markdown file in the archive.' }),
  crc32: Type.Integer({ description: 'Checksum of that file. A different checksum means that the file was edited.' }),
  title: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.String({ maxLength: 1_000 }),
  position: Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
  status: Type.Enum(['draft', 'published', 'archived']),
  origin: Origin,
  stale: Type.Boolean(),
  gone_file: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'The file or folder that was missing from the last sync of its folder.',
    }),
  ),
  revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  word_count: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  created_at: Time,
  created_by: User,
  updated_at: Time,
  updated_by: User,
  former_paths: Type.Array(Path, { description: 'Earlier paths of the page.' }),
  meant: Type.Array(Record({ to_path: Path, page_id: PageId }), {
    description: 'Links whose page has moved from the path in the text.',
  }),
});
export type ArchivedPage = Static<typeof ArchivedPage>;

export const ArchivedRevision = Type.Object({
  page_id: PageId,
  revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  title: Type.String({ minLength: 1, maxLength: 255 }),
  origin: Origin,
  folder: Type.String({ maxLength: 1_024, description: 'The folder from which relative addresses resolve.' }),
  created_at: Time,
  created_by: User,
  claim: Type.Optional(
    Type.Object(
      { user_id: User, created_at: Time, origin: Origin, imported_by: User },
      { description: 'Claims of an earlier archive about the revision imported from it; not verified.' },
    ),
  ),
  markdown: Type.String(),
});
export type ArchivedRevision = Static<typeof ArchivedRevision>;

export const ArchivedAttachment = Type.Object({
  attachment_id: Type.String({ pattern: '^attachment_[0-9a-hjkmnp-tv-z]{26}$' }),
  page_id: PageId,
  file: Type.String({ description: "Path of the attachment's bytes in the archive." }),
  filename: Type.String({ minLength: 1, maxLength: 255 }),
  content_type: Type.String({ maxLength: 255 }),
  byte_size: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
  created_at: Time,
  created_by: User,
});
export type ArchivedAttachment = Static<typeof ArchivedAttachment>;

/**
 * Returns the file of a page's Markdown. A page with children is a folder whose own text is index.md. A page named
 * index or readme also gets a folder, because those names stand for the text of the folder.
 */
export function pageFile(path: string, has_children: boolean): string {
  const isFolder = has_children || /(^|\/)(index|readme)$/.test(path);
  return `pages/${path}${isFolder ? '/index' : ''}.md`;
}

/** Formats the front matter of a page's file, for people and other programs. Values are JSON, a subset of YAML. */
export function frontMatter(fields: Readonly<{ [name: string]: string | number | boolean }>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join('')}---\n`;
}
