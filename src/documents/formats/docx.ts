import mammoth from 'mammoth';
import { collectPictures } from './document-pictures.ts';
import type { ExtractedDocument } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { htmlToMarkdown } from './html.ts';

/**
 * Converts a Word document: headings, lists, tables, links, footnotes and embedded pictures. External references are
 * never fetched. Throws an ExtractError if it is damaged.
 */
export async function readDocx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const { pictures, add } = collectPictures();
  const convertImage = mammoth.images.imgElement(async (image) => ({ src: add(await image.readAsBuffer()) }));
  const html = await convert(Buffer.from(bytes), convertImage);
  const { markdown, title } = htmlToMarkdown(`<body>${html}</body>`, (address) =>
    address.startsWith('attachment:') ? address : '',
  );
  const content_type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  return { kind: 'docx', markdown, title, language: '', content_type, pictures };
}

async function convert(buffer: Buffer, convertImage: ReturnType<typeof mammoth.images.imgElement>): Promise<string> {
  try {
    const { value } = await mammoth.convertToHtml(
      { buffer },
      { convertImage, externalFileAccess: false, includeEmbeddedStyleMap: false },
    );
    return value;
  } catch {
    // The library's errors mean that the file is not a Word document or is damaged; their messages are not for users.
    throw new ExtractError(
      'unreadable',
      'the Word document is damaged and cannot be read; save it again as .docx and upload it again',
    );
  }
}
