import { hash } from 'node:crypto';
import type { Picture } from './extract.ts';

/** Pictures of a document, summed up, in bytes; what is beyond is left out. */
const PICTURES_MAX = 32 * 2 ** 20;

/** Takes the pictures of a document, and answers the address under which its Markdown shows each; "" for none. */
export function collectPictures(): { pictures: Picture[]; add(bytes: Buffer): string } {
  const pictures: Picture[] = [];
  const known = new Set<string>();
  let left = PICTURES_MAX;
  return {
    pictures,
    add(bytes) {
      // As long as an attachment's id, whose place it holds.
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
