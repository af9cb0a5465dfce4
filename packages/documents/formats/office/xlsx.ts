import type { ExtractedDocument } from '../extracted.ts';
import type { ZipEntry } from '../zip/zip.ts';
import { asDocument } from './as-document.ts';
import { shownNumber } from './number-formats.ts';
import { needed, type OfficePackage, openOffice, titleIn } from './office-package.ts';
import { type Cell, type Sheet, sheetsToHtml } from './sheets.ts';
import { childOf, childrenOf, findAll, textOf, type XmlNode } from './xml-nodes.ts';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const WORKBOOK = 'xl/workbook.xml';

/** The number of columns that Excel allows; cells beyond it are ignored. */
const COLUMN_MAX = 16_384;

/** Data that the cells of a workbook refer to. */
interface Workbook {
  strings: string[];
  formats: { id: number; code: string }[];
  is1904: boolean;
}

/**
 * Reads an Excel workbook: each sheet as a heading and a table, with the values of formulas. Hidden sheets, rows and
 * columns, comments, charts and pictures are listed as losses. Throws an ExtractError if the file is damaged.
 */
export function readXlsx(entries: readonly ZipEntry[]): ExtractedDocument {
  const office = openOffice(entries);
  const root = needed(office.read(WORKBOOK));
  const relations = office.relationsOf(WORKBOOK);
  const targetOf = (type: string) => [...relations.values()].find((each) => each.type === type)?.target ?? '';
  const workbook = {
    strings: childrenOf(childOf(office.read(targetOf('sharedStrings')), 'sst'), 'si').map(stringOf),
    formats: formatsOf(childOf(office.read(targetOf('styles')), 'styleSheet')),
    is1904: /^(?:1|true)$/.test(childOf(root, 'workbookPr')?.attributes.date1904 ?? ''),
  };
  const sheets = childrenOf(childOf(root, 'sheets'), 'sheet').flatMap((sheet): Sheet[] => {
    const { name = '', state = 'visible' } = sheet.attributes;
    const target = relations.get(sheet.attributes['r:id'] ?? '')?.target ?? '';
    const part = childOf(office.read(target), 'worksheet');
    if (!part) {
      office.losses.addThing('embedded_object', name);
      return [];
    }
    addLossesOf(target, name, office);
    return [{ name, isHidden: state !== 'visible', rows: rowsOf(part, target, workbook, office) }];
  });
  const title = titleIn(office.read('docProps/core.xml'));
  return asDocument({ kind: 'xlsx', content_type: TYPE, title, ...sheetsToHtml(sheets, office) }, office);
}

/** Returns the text of a string without phonetic readings of Japanese words. */
function stringOf(node: XmlNode): string {
  return childrenOf(node)
    .map((child) => (child.name === 't' ? textOf(child) : child.name === 'r' ? textOf(childOf(child, 't')) : ''))
    .join('');
}

function formatsOf(styles: XmlNode | undefined): { id: number; code: string }[] {
  const codes = new Map(
    childrenOf(childOf(styles, 'numFmts'), 'numFmt').map(({ attributes }) => [
      attributes.numFmtId,
      attributes.formatCode,
    ]),
  );
  return childrenOf(childOf(styles, 'cellXfs'), 'xf').map(({ attributes: { numFmtId = '0' } }) => ({
    id: Number(numFmtId),
    code: codes.get(numFmtId) ?? '',
  }));
}

function rowsOf(part: XmlNode, name: string, workbook: Workbook, office: OfficePackage): Sheet['rows'] {
  const links = linksOf(part, name, office);
  const hidden = childrenOf(childOf(part, 'cols'), 'col').filter(({ attributes }) => isTrue(attributes.hidden));
  const isHiddenColumn = (column: number) =>
    hidden.some(({ attributes: { min = 0, max = 0 } }) => column + 1 >= Number(min) && column + 1 <= Number(max));
  let [formulas, unknown] = [0, 0];
  const lost: string[] = [];
  const rows = childrenOf(childOf(part, 'sheetData'), 'row').map((row) => {
    const cells: (Cell | undefined)[] = [];
    for (const cell of childrenOf(row, 'c')) {
      const column = cell.attributes.r === undefined ? cells.length : columnOf(cell.attributes.r);
      if (column >= COLUMN_MAX) continue;
      const hasFormula = childOf(cell, 'f') !== undefined;
      const text = shownValue(cell, workbook);
      if (hasFormula) formulas += 1;
      if (hasFormula && text === '') unknown += 1;
      if (text !== '' && (isTrue(row.attributes.hidden) || isHiddenColumn(column))) lost.push(text);
      else if (text !== '') cells[column] = { text, ...links.get(cell.attributes.r ?? '') };
    }
    return cells;
  });
  if (lost.length > 0) {
    // The file's character count does not include hidden cells, so this loss has no characters.
    office.losses.addThing(
      'hidden_text',
      `${lost.length} cells of hidden rows and columns: ${lost.slice(0, 20).join(' ')}`,
    );
  }
  if (formulas > unknown) office.losses.sum('metadata', '', formulas - unknown);
  if (unknown > 0) office.losses.sum('equation', '', unknown);
  return rows;
}

function shownValue(cell: XmlNode, { strings, formats, is1904 }: Workbook): string {
  const { t: type = 'n', s: style = '0' } = cell.attributes;
  if (type === 'inlineStr') return stringOf(childOf(cell, 'is') ?? cell);
  const value = textOf(childOf(cell, 'v'));
  if (value === '' || type === 'str' || type === 'e') return value;
  if (type === 's') return strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'd') return value.replace('T', ' ');
  const number = Number(value);
  return Number.isFinite(number) ? shownNumber(number, formats[Number(style)] ?? { id: 0, code: '' }, is1904) : value;
}

/** Returns web addresses by cell name. */
function linksOf(part: XmlNode, name: string, office: OfficePackage): Map<string, { url: string }> {
  const links = childrenOf(childOf(part, 'hyperlinks'), 'hyperlink');
  const relations = links.length === 0 ? new Map() : office.relationsOf(name);
  return new Map(
    links.flatMap(({ attributes }) => {
      const relation = relations.get(attributes['r:id'] ?? '');
      return relation?.isExternal && attributes.ref ? [[attributes.ref, { url: relation.target }] as const] : [];
    }),
  );
}

/** Lists comments, charts and pictures of a sheet as losses. */
function addLossesOf(name: string, sheet: string, office: OfficePackage): void {
  for (const { type, target } of office.relationsOf(name).values()) {
    if (type === 'comments' || type === 'threadedComment') {
      for (const comment of findAll(office.read(target), 'comment', 'threadedComment')) {
        const words = findAll(comment, 't', 'text').map(textOf).join('');
        if (words.trim() !== '') office.losses.addThing('comment', `${sheet}: ${words}`);
      }
    }
    if (type !== 'drawing') continue;
    for (const each of office.relationsOf(target).values()) {
      if (each.type === 'chart' || each.type === 'chartEx')
        office.losses.addThing('embedded_object', `${sheet}: chart`);
      if (each.type === 'image') office.losses.addThing('picture', sheet);
    }
  }
}

/** Returns the zero-based column of a cell name: 0 for A1, 27 for AB3. */
function columnOf(name: string): number {
  const letters = /^[A-Z]{1,3}/i.exec(name)?.[0].toUpperCase() ?? 'A';
  return [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
