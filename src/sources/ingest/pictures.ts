import { hash } from 'node:crypto';
import { idOfContent, picturesInText } from '@ibid/documents/formats/data-pictures.ts';
import type { Extracted, Picture } from '@ibid/documents/formats/extracted.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { SNIFFED_BYTES, sniffType } from '../../wiki/attachments/sniff-type.ts';
import { type CompiledUploadFile, type PlacedPicture, withAttachmentIds } from './compiled-upload.ts';

/**
 * Stores the pictures of a document, and replaces their names in its Markdown by attachment ids. Reuses the ids of
 * pictures that the page already has, so that an unchanged document compiles to the same page.
 */
export async function placePictures(
  query: Query,
  blobs: Blobs,
  page: { wiki_id: string; page_id: string },
  { pictures = [], ...document }: Extracted,
): Promise<{ document: Extracted; pictures: PlacedPicture[] }> {
  if (pictures.length === 0) return { document, pictures: [] };
  const { named, placed } = await place(query, blobs, page, pictures);
  const markdown = document.markdown.replace(/(?<=attachment:)picture_[0-9a-f]+/g, (name) => named.get(name) ?? name);
  return { document: { ...document, markdown }, pictures: placed };
}

/**
 * Stores the pictures embedded as data URLs in a text, but only those shown on its pages. Pages refer to them by an id
 * that is derived from the content.
 */
export async function placePicturesOfText(
  query: Query,
  blobs: Blobs,
  page: { wiki_id: string; page_id: string },
  file: Uint8Array,
  compiled: CompiledUploadFile[],
): Promise<{ compiled: CompiledUploadFile[]; pictures: PlacedPicture[] }> {
  const texts = compiled.map((each) => each.page?.markdown ?? '');
  const shown = new Set(texts.flatMap((text) => text.match(ID_OF_CONTENT) ?? []));
  const pictures = new Map<string, Picture>();
  for (const bytes of shown.size === 0 ? [] : picturesInText(file)) {
    const name = idOfContent(bytes);
    if (shown.has(name)) pictures.set(name, { name, bytes });
  }
  if (pictures.size === 0) return { compiled, pictures: [] };
  const { named, placed } = await place(query, blobs, page, [...pictures.values()]);
  const withIds = (text: string) => text.replace(ID_OF_CONTENT, (id) => named.get(id) ?? id);
  const made = compiled.map((each): CompiledUploadFile => {
    if (!each.page) return each;
    const own = withAttachmentIds(each.page, withIds);
    return { ...each, page: own, result: each.result === each.page ? { ...own, ok: true } : each.result };
  });
  return { compiled: made, pictures: placed };
}

const ID_OF_CONTENT = /\battachment_[0-9a-f]{26}\b/g;

/** Stores pictures. Returns the attachment id of each name, and the new attachments. */
async function place(
  query: Query,
  blobs: Blobs,
  page: { wiki_id: string; page_id: string },
  pictures: readonly Picture[],
): Promise<{ named: Map<string, string>; placed: PlacedPicture[] }> {
  const known = await query<{ sha256: string; attachment_id: string }>(sql`
    select sha256, attachment_id from attachments where wiki_id = ${page.wiki_id} and page_id = ${page.page_id}`);
  const ids = new Map(known.map(({ sha256, attachment_id }) => [sha256, attachment_id]));
  const sha256s = pictures.map(({ bytes }) => hash('sha256', bytes));
  const fresh = pictures.filter((_, i) => !ids.has(sha256s[i] ?? ''));
  await blobs.keepAll(fresh.map(({ bytes }) => bytes));
  const placed: PlacedPicture[] = [];
  const named = new Map<string, string>();
  for (const [i, { name, bytes }] of pictures.entries()) {
    const sha256 = sha256s[i] ?? '';
    const attachment_id = ids.get(sha256) ?? newId('attachment');
    named.set(name, attachment_id);
    if (ids.has(sha256)) continue;
    ids.set(sha256, attachment_id);
    const content_type = await sniffType(bytes.subarray(0, SNIFFED_BYTES));
    const ending = /^image\/([a-z]+)/.exec(content_type)?.[1] ?? 'bin';
    placed.push({
      attachment_id,
      filename: `picture-${placed.length + 1}.${ending}`,
      content_type,
      byte_size: bytes.length,
      sha256,
    });
  }
  return { named, placed };
}
