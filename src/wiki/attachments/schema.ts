import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { examplePage } from '../pages/schema.ts';

export const Attachment = Record(
  {
    attachment_id: Id,
    wiki_id: Id,
    page_id: Id,
    filename: Type.String(),
    content_type: Type.String({ description: 'Media type detected from the bytes, regardless of the declared type.' }),
    byte_size: Type.Integer(),
    sha256: Type.String({ description: '64 hexadecimal digits.' }),
    created_at: Timestamp,
    created_by: Id,
  },
  {
    title: 'Attachment',
    description: 'An image or file of a page. Markdown refers to it as `attachment:<attachment_id>`.',
  },
);
export type Attachment = Static<typeof Attachment>;

export const AttachmentParams = Type.Object({ wiki_id: Id, attachment_id: Id });

/** Selects the columns of Attachment from an attachment `a`. */
export const attachmentColumns: Sql = sql`
  a.attachment_id, a.wiki_id, a.page_id, a.filename, a.content_type, a.byte_size, a.sha256, a.created_at, a.created_by`;

export const exampleAttachment: Attachment = {
  attachment_id: 'attachment_01jd8w3v6xf3e8h2k9m4n5p6v1',
  wiki_id: examplePage.wiki_id,
  page_id: examplePage.page_id,
  filename: 'diagram.png',
  content_type: 'image/png',
  byte_size: 48_211,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  created_at: '2026-11-21T05:29:32.104Z',
  created_by: examplePage.created_by,
};
