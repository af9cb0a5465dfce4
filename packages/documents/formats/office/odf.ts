import type { ExtractedDocument } from '../extracted.ts';
import type { DocumentKind } from '../kinds.ts';
import { countCharacters } from '../losses.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { asDocument, escaped } from './as-document.ts';
import { OdfBlocks } from './odf-blocks.ts';
import { stylesOf } from './odf-styles.ts';
import { needed, openOffice, titleIn } from './office-package.ts';
import { type Cell, type Sheet, sheetsToHtml } from './sheets.ts';
import { childOf, childrenOf, findAll, textOf, type XmlNode } from './xml-nodes.ts';

const TYPES = {
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
} as const satisfies Partial<Record<DocumentKind, string>>;

/** An empty cell or row that repeats more often fills the unused rest of a sheet. */
const REPEATED_MAX = 1_000;

/**
 * Reads an OpenDocument text, spreadsheet or presentation: headings, lists, tables, links, notes and pictures. Sheets
 * become tables, slides become headings. Comments, deletions, headers, charts and hidden sheets are listed as losses.
 * Throws an ExtractError if the file is damaged.
 */
export function readOdf(kind: keyof typeof TYPES, entries: readonly ZipEntry[]): ExtractedDocument {
  const office = openOffice(entries);
  const content = needed(office.read('content.xml'));
  const body = childrenOf(childOf(content, 'body'))[0];
  const styles = office.read('styles.xml');
  const about = { kind, content_type: TYPES[kind], title: titleIn(office.read('meta.xml')) };
  if (kind === 'ods') {
    const sheets = childrenOf(body, 'table').map((table) => sheetOf(table, content));
    for (const note of findAll(body, 'annotation')) office.losses.addThing('comment', wordsOf(note));
    for (const frame of findAll(body, 'object')) office.losses.addThing('embedded_object', frame.attributes.href ?? '');
    return asDocument({ ...about, ...sheetsToHtml(sheets, office) }, office);
  }
  const blocks = new OdfBlocks(stylesOf(content, styles), office);
  for (const part of findAll(styles, 'header', 'footer')) {
    const words = wordsOf(part);
    if (kind === 'odt' && words.trim() !== '') office.losses.addThing('repeated_line', words);
  }
  const html = kind === 'odp' ? slides(body, blocks) : blocks.read(body);
  const file_characters = countCharacters(textOf(body)) - blocks.uncounted;
  return asDocument(
    { ...about, title: blocks.title || about.title, html: `${html}${blocks.notes()}`, file_characters },
    office,
  );
}

function wordsOf(node: XmlNode): string {
  return findAll(node, 'p', 'h').map(textOf).join(' ');
}

function sheetOf(table: XmlNode, content: XmlNode): Sheet {
  const rows: Sheet['rows'] = [];
  for (const row of findAll(table, 'table-row')) {
    const cells: (Cell | undefined)[] = [];
    for (const cell of childrenOf(row)) {
      if (cell.name !== 'table-cell' && cell.name !== 'covered-table-cell') continue;
      const text = childrenOf(cell, 'p').map(textOf).join('\n');
      const url = findAll(cell, 'a')[0]?.attributes.href ?? '';
      const count = repeats(cell, 'number-columns-repeated', text === '');
      for (let i = 0; i < count; i += 1)
        cells.push(text === '' ? undefined : { text, ...(/^https?:/i.test(url) && { url }) });
    }
    const count = repeats(
      row,
      'number-rows-repeated',
      cells.every((cell) => cell === undefined),
    );
    for (let i = 0; i < count; i += 1) rows.push(cells);
  }
  const style = findAll(content, 'style').find(({ attributes }) => attributes.name === table.attributes['style-name']);
  const isHidden = childOf(style, 'table-properties')?.attributes.display === 'false';
  return { name: table.attributes.name ?? '', isHidden, rows };
}

/** Returns how often a cell or row repeats, at most REPEATED_MAX; 1 for the empty rest of a sheet. */
function repeats(node: XmlNode, name: string, isEmpty: boolean): number {
  const count = Math.max(1, Number(node.attributes[name] ?? 1) || 1);
  return isEmpty && count > REPEATED_MAX ? 1 : Math.min(count, REPEATED_MAX);
}

function slides(body: XmlNode | undefined, blocks: OdfBlocks): string {
  return childrenOf(body, 'page')
    .map((page, i) => {
      const frames = findAll(page, 'frame', 'custom-shape', 'notes');
      const isTitle = (frame: XmlNode) => frame.attributes.class === 'title' && textOf(frame).trim() !== '';
      const title = frames.find(isTitle);
      const words = title ? escaped(findAll(title, 'p').map(textOf).join(' ').trim()) : `Slide ${i + 1}`;
      const content = frames
        .filter((frame) => frame !== title && frame.name !== 'notes')
        .map((frame) => blocks.frame(frame));
      const notes = frames
        .filter(({ name }) => name === 'notes')
        .flatMap((each) => findAll(each, 'text-box').map((box) => blocks.read(box)))
        .join('');
      return `<h2>${words}</h2>${content.join('')}${notes === '' ? '' : `<blockquote><p>Notes:</p>${notes}</blockquote>`}`;
    })
    .join('\n');
}
