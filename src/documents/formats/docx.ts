import mammoth from 'mammoth';
import { collectPictures } from './document-pictures.ts';
import type { ExtractedDocument } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { htmlToMarkdown } from './html.ts';

/**
 * What a Word document says: headings, lists, tables, links, footnotes, and pictures that it holds itself. What it only
 * refers to is never fetched. Throws an ExtractError for one that is broken.
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
    // Whatever it throws is of a file that is none of Word's, or a broken one; the readers of it say nothing for people.
    throw new ExtractError(
      'unreadable',
      'the Word document is damaged and cannot be read; save it anew as .docx and upload it again',
    );
  }
}
