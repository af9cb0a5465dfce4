import { hash } from 'node:crypto';
import mammoth from 'mammoth';
import type { ExtractedDocument, Picture } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { htmlToMarkdown } from './html.ts';

/** Pictures of a document, summed up, in bytes; what is beyond is left out. */
const PICTURES_MAX = 32 * 2 ** 20;

/**
 * What a Word document says: headings, lists, tables, links, footnotes, and pictures that it holds itself. What it only
 * refers to is never fetched. Throws an ExtractError for one that is broken.
 */
export async function readDocx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const pictures: Picture[] = [];
  let left = PICTURES_MAX;
  const convertImage = mammoth.images.imgElement(async (image) => {
    const picture = await image.readAsBuffer();
    left -= picture.length;
    if (left < 0) return { src: '' };
    const name = pictureName(picture);
    pictures.push({ name, bytes: picture });
    return { src: `attachment:${name}` };
  });
  const html = await convert(Buffer.from(bytes), convertImage);
  const { markdown, title } = htmlToMarkdown(`<body>${html}</body>`, { isDocument: true });
  const content_type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  return { kind: 'docx', markdown, title, language: '', content_type, pictures };
}

/** As long as an attachment's id, whose place it holds. */
export function pictureName(bytes: Uint8Array): string {
  return `picture_${hash('sha256', bytes).slice(0, 29)}`;
}

async function convert(buffer: Buffer, convertImage: ReturnType<typeof mammoth.images.imgElement>): Promise<string> {
  try {
    const { value } = await mammoth.convertToHtml(
      { buffer },
      { convertImage, externalFileAccess: false, includeEmbeddedStyleMap: false },
    );
    return value;
  } catch {
    throw new ExtractError(
      'unreadable',
      'the Word document is damaged and cannot be read; save it anew as .docx and upload it again',
    );
  }
}
