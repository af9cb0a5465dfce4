import { zipOf } from './zip.ts';

const W3 = 'http://schemas.openxmlformats.org';
const RELATIONS = `${W3}/officeDocument/2006/relationships`;

type Part = readonly [name: string, content: string | Uint8Array];

function relations(list: readonly (readonly [id: string, type: string, target: string])[]): string {
  const each = list.map(([id, type, target]) => {
    const mode = /^https?:/.test(target) ? ' TargetMode="External"' : '';
    return `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"${mode}/>`;
  });
  return `<?xml version="1.0"?><Relationships xmlns="${W3}/package/2006/relationships">${each.join('')}</Relationships>`;
}

export interface SlideOf {
  shapes: string;
  /** Attributes of the slide, such as `show="0"`. */
  attributes?: string;
  notes?: string;
  relations?: readonly (readonly [id: string, type: string, target: string])[];
}

export function pptxOf(slides: readonly SlideOf[], parts: readonly Part[] = []): Buffer {
  const names = 'xmlns:a="a" xmlns:p="p" xmlns:r="r"';
  return zipOf([
    ['[Content_Types].xml', '<Types/>'],
    [
      'ppt/presentation.xml',
      `<p:presentation ${names}><p:sldIdLst>${slides.map((_, i) => `<p:sldId r:id="rId${i + 1}" id="${256 + i}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    ],
    [
      'ppt/_rels/presentation.xml.rels',
      relations(slides.map((_, i) => [`rId${i + 1}`, 'slide', `slides/slide${i + 1}.xml`])),
    ],
    ...slides.flatMap(({ shapes, attributes = '', notes, relations: own = [] }, i): Part[] => {
      const noteRelation =
        notes === undefined ? [] : [['rId99', 'notesSlide', `../notesSlides/note${i + 1}.xml`] as const];
      return [
        [
          `ppt/slides/slide${i + 1}.xml`,
          `<p:sld ${names} ${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
        ],
        [`ppt/slides/_rels/slide${i + 1}.xml.rels`, relations([...own, ...noteRelation])],
        ...(notes === undefined
          ? []
          : [[`ppt/notesSlides/note${i + 1}.xml`, `<p:notes ${names}>${shapeOf('body', notes)}</p:notes>`] as const]),
      ];
    }),
    ...parts,
  ]);
}

/** Returns a shape with paragraphs, each a text or XML. */
export function shapeOf(placeholder: string, ...paragraphs: readonly string[]): string {
  // The placeholder for any content names no type.
  const type = placeholder === 'any' ? 'idx="1"' : `type="${placeholder}"`;
  const place = placeholder === '' ? '' : `<p:ph ${type}/>`;
  const texts = paragraphs.map((each) => (each.startsWith('<') ? each : `<a:p><a:r><a:t>${each}</a:t></a:r></a:p>`));
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr>${place}</p:nvPr></p:nvSpPr><p:txBody>${texts.join('')}</p:txBody></p:sp>`;
}

export interface SheetOf {
  name: string;
  /** XML of the sheet's rows; `before` and `behind` hold the XML around them. */
  rows: string;
  before?: string;
  behind?: string;
  state?: string;
  relations?: readonly (readonly [id: string, type: string, target: string])[];
}

/** Builds an Excel workbook. `styles`: the XML of its style sheet. */
export function xlsxOf(
  sheets: readonly SheetOf[],
  {
    strings = [],
    styles = '<styleSheet/>',
    properties = '',
    parts = [],
  }: {
    strings?: readonly string[];
    styles?: string;
    properties?: string;
    parts?: readonly Part[];
  } = {},
): Buffer {
  return zipOf([
    ['[Content_Types].xml', '<Types/>'],
    [
      'xl/workbook.xml',
      `<workbook xmlns:r="r"><workbookPr ${properties}/><sheets>${sheets.map(({ name, state }, i) => `<sheet name="${name}" sheetId="${i + 1}"${state ? ` state="${state}"` : ''} r:id="rId${i + 1}"/>`).join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relations([
        ...sheets.map((_, i) => [`rId${i + 1}`, 'worksheet', `worksheets/sheet${i + 1}.xml`] as const),
        ['rId90', 'sharedStrings', 'sharedStrings.xml'],
        ['rId91', 'styles', '/xl/styles.xml'],
      ]),
    ],
    [
      'xl/sharedStrings.xml',
      `<sst>${strings.map((text) => `<si>${text.startsWith('<') ? text : `<t>${text}</t>`}</si>`).join('')}</sst>`,
    ],
    ['xl/styles.xml', styles],
    ...sheets.flatMap(({ rows, before = '', behind = '', relations: own = [] }, i): Part[] => [
      [
        `xl/worksheets/sheet${i + 1}.xml`,
        `<worksheet xmlns:r="r">${before}<sheetData>${rows}</sheetData>${behind}</worksheet>`,
      ],
      [`xl/worksheets/_rels/sheet${i + 1}.xml.rels`, relations(own)],
    ]),
    ...parts,
  ]);
}

/** Builds an OpenDocument file of a kind (`text`, `spreadsheet`, `presentation`) with this XML in its body. */
export function odfOf(
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  { automatic = '', styles = '', parts = [] }: { automatic?: string; styles?: string; parts?: readonly Part[] } = {},
): Buffer {
  const names =
    'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:style="s" xmlns:fo="f" xmlns:xlink="x" xmlns:presentation="p" xmlns:svg="v" xmlns:dc="c"';
  return zipOf([
    ['mimetype', `application/vnd.oasis.opendocument.${kind}`],
    [
      'content.xml',
      `<?xml version="1.0"?><office:document-content ${names}><office:automatic-styles>${automatic}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    ],
    ['styles.xml', `<office:document-styles ${names}>${styles}</office:document-styles>`],
    ...parts,
  ]);
}
