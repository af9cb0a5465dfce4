import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import mammoth from 'mammoth';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument } from '../extracted.ts';
import { htmlToMarkdown } from '../html/html.ts';
import { type LossList, lossList } from '../loss-list.ts';
import { openZip } from '../zip/zip.ts';
import { LIST_STYLES, withNumbers } from './list-paragraphs.ts';
import { linesOfParagraphs } from './paragraph-lines.ts';
import { openWordPackage } from './word-package.ts';
import { MATH_STYLES } from './word-parts.ts';
import { codeStyles, headingStyles, type ParagraphStyles } from './word-styles.ts';
import { decodeXml } from './xml-tree.ts';

/** Quotation styles of Word and LibreOffice. */
const QUOTE_STYLES = ['Quote', 'Intense Quote', 'Block Text', 'Quotations'].map(
  (name) => `p[style-name='${name}'] => blockquote > p:fresh`,
);

/** Character styles for code in pandoc, Word and LibreOffice. */
const CODE_WORD_STYLES = ['Verbatim Char', 'HTML Code', 'HTML Typewriter', 'Source Text', 'Teletype'].map(
  (name) => `r[style-name='${name}'] => code`,
);

type Files = ReturnType<typeof openWordPackage>['files'];

/**
 * Converts a Word document: headings, lists, tables, links, equations, footnotes and embedded pictures. Comments,
 * deletions, hidden text, headers, footers and embedded objects are listed as losses. Never fetches external
 * references. Throws an ExtractError if the document is damaged.
 */
export async function readDocx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const losses = lossList();
  const word = openWordPackage(openZip(bytes), losses);
  const { pictures, add } = collectPictures();
  const convertImage = mammoth.images.imgElement(async (image) => {
    // Browsers do not show Windows metafiles.
    const src = /[/-][ew]mf$/.test(image.contentType ?? '') ? '' : add(await image.readAsBuffer());
    return { src };
  });
  const html = await convert(word.files, word.styles, convertImage, losses);
  const document = toMarkdown(
    withNumbers(html).replaceAll('<input type="checkbox"', '<input disabled type="checkbox"'),
  );
  losses.losses.push(...document.losses);
  const { markdown } = document;
  const headers = word.edges('header');
  const title = titleOf(html) || document.title || titleInHeader(markdown, [...headers.keys()]);
  for (const [text, count] of headers) {
    // One header with the text of the title is shown as the title.
    const left = oneLine(text, TITLE_MAX) === title ? count - 1 : count;
    if (left > 0) losses.add('repeated_line', text, left);
  }
  for (const [text, count] of word.edges('footer')) losses.add('repeated_line', text, count);
  for (const text of word.comments()) losses.add('comment', text);
  return {
    kind: 'docx',
    markdown,
    lines: linesOfParagraphs(markdown, word.paragraphs()),
    title,
    language: '',
    content_type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    pictures,
    losses: losses.losses,
    file_characters: word.countCharacters(),
  };
}

/** Returns the text of the paragraph with Word's title style; "" without one. */
function titleOf(html: string): string {
  const [, title = ''] = /<p class="document-title">(.*?)<\/p>/s.exec(html) ?? [];
  return oneLine(decodeXml(title.replace(/<[^>]*>/g, '')), TITLE_MAX);
}

/** Takes the first header as the title of a document without headings. */
function titleInHeader(markdown: string, headers: readonly string[]): string {
  if (/^#{1,6} /m.test(markdown)) return '';
  return oneLine(headers.find((text) => /\p{L}{2}/u.test(text)) ?? '', TITLE_MAX);
}

function toMarkdown(html: string): ReturnType<typeof htmlToMarkdown> {
  try {
    return htmlToMarkdown(`<body>${html}</body>`, {
      pictureAt: (address) => (address.startsWith('attachment:') ? address : ''),
    });
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    throw new ExtractError(
      'unreadable',
      'the Word document is nested too deep; simplify its tables and upload it again',
    );
  }
}

async function convert(
  files: Files,
  styles: ParagraphStyles,
  convertImage: ReturnType<typeof mammoth.images.imgElement>,
  losses: LossList,
): Promise<string> {
  const styleMap = [
    `r.${MATH_STYLES.inline} => code.math-inline:fresh`,
    `r.${MATH_STYLES.display} => code.math-display:fresh`,
    "p[style-name='Title'] => p.document-title:fresh",
    ...headingStyles(styles),
    ...QUOTE_STYLES,
    ...LIST_STYLES,
    ...codeStyles(styles),
    ...CODE_WORD_STYLES,
    // A break must not join the words around it.
    "br[type='page'] => br",
    "br[type='column'] => br",
  ];
  try {
    const { value, messages } = await mammoth.convertToHtml(
      // The converter also accepts an open package, which its types do not declare.
      { file: files } as unknown as { buffer: Buffer },
      { convertImage, styleMap, externalFileAccess: false, includeEmbeddedStyleMap: false },
    );
    const symbols = messages.filter(({ message }) => message.startsWith('A w:sym element')).length;
    if (symbols > 0) losses.sum('unreadable_text', '', symbols);
    return value;
  } catch {
    // The converter throws if the file is not a Word document or is damaged; its messages are not for users.
    throw new ExtractError(
      'unreadable',
      'the Word document is damaged and cannot be read; save it again as .docx and upload it again',
    );
  }
}
