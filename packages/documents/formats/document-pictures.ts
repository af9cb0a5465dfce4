import { hash } from 'node:crypto';
import type { Picture } from './extracted.ts';

/** The limit of a document's pictures in bytes; further pictures are omitted. */
const MAX_PICTURE_BYTES = 32 * 2 ** 20;

/** Collects the pictures of a document. `add` returns the address for the Markdown; "" if the picture is omitted. */
export function collectPictures(): { pictures: Picture[]; add(bytes: Buffer): string } {
  const pictures: Picture[] = [];
  const known = new Set<string>();
  let left = MAX_PICTURE_BYTES;
  return {
    pictures,
    add(bytes) {
      // The name is as long as an attachment's id, which replaces it later.
      const name = `picture_${hash('sha256', bytes).slice(0, 29)}`;
      if (!known.has(name)) {
        if (bytes.length > left) return '';
        left -= bytes.length;
        known.add(name);
        pictures.push({ name, bytes });
      }
      return `attachment:${name}`;
    },
  };
}
