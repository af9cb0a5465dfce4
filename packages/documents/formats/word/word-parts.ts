import type { LossList } from '../loss-list.ts';
import { ommlToTex } from './omml.ts';
import { textOfXml } from './word-text.ts';
import { attributesOf, decodeXml, encodeXml, localName, parseXmlPiece, type XmlToken, xmlTokens } from './xml-tree.ts';

/** The style of runs that are formulas, whose text is TeX. */
export const MATH_STYLES = { inline: 'IbidInlineMath', display: 'IbidDisplayMath' };

interface Branch {
  /** [start, end) of what was written for it and of its losses. */
  written: [start: number, end: number];
  losses: [start: number, end: number];
  /** How many texts and pictures it has. */
  shown: number;
}

/** An element that is open, with what is written and lost since. */
interface Open {
  name: string;
  /** How much was written before it. */
  at: number;
  /** The shown things and the losses before it. */
  shown: number;
  lossesBefore: number;
  /** Its content is not for readers. */
  removed?: 'tracked_change' | 'hidden_text';
  /** Where the branches of alternate content begin and end. */
  choice?: Branch;
  fallback?: Branch;
  /** Text boxes and diagrams of a drawing, which follow its paragraph. */
  boxes?: string[];
  /** The reading of ruby text, which follows it. */
  reading?: string[];
  /** What is written when it ends, in place of its own tag. */
  closing?: string;
}

/** What a part of a Word document refers to by relationship: the text of a diagram or chart, "" if it has none. */
export type RelatedText = (id: string) => string[];

/** Text is rarely nested deeper than 30; what is deeper than this is for the converter to refuse. */
const DEPTH_MAX = 500;

/** Elements of which only the content matters. */
const UNWRAPPED = new Set(['dir', 'bdo', 'Choice', 'Fallback', 'AlternateContent', 'ruby', 'rubyBase', 'rt']);

/** Where a picture names its file; LibreOffice writes some that have none. */
const FILE_OF_PICTURE = /:(?:embed|link|id|pict|href)=/;

/** Whether a part has anything that the rewriting below is about; most have nothing. */
const CONCERNED =
  /<(?:\w+:)?(?:oMath|AlternateContent|txbxContent|del|moveFrom|vanish|ruby|fldSimple|instrText|dir|bdo|cr|object|chart|relIds|altChunk)[\s>/]|<(?:\w+:)?(?:blip|imagedata)(?=[\s>/])(?![^<>]*:(?:embed|link|id|pict|href)=)/;

/**
 * Rewrites the XML of a part of a Word document (its text, notes) to what the converter reads, and lists what is not
 * for readers: equations become runs of TeX, text boxes and diagrams paragraphs, fields links; deletions and hidden text
 * are left out. One pass, in time linear in the length.
 */
export function rewriteWordPart(xml: string, losses: LossList, related: RelatedText): string {
  if (!CONCERNED.test(xml)) return xml;
  const written: string[] = [];
  const open: Open[] = [];
  const prefix = /<(\w+):(?:document|footnotes|endnotes)[\s>]/.exec(xml)?.[1] ?? 'w';
  const part: Part = { written, open, losses, related, prefix, shown: 0 };
  for (const token of xmlTokens(xml)) {
    if (token.type === 'text') writeText(part, token.source);
    else if (token.type === 'close') closeElement(part, token);
    else if (open.length > DEPTH_MAX) return xml;
    else {
      openElement(part, token);
      if (token.type === 'empty') closeElement(part, token);
    }
  }
  return written.join('');
}

interface Part {
  written: string[];
  open: Open[];
  losses: LossList;
  related: RelatedText;
  /** The prefix of Word's own elements. */
  prefix: string;
  /** How many texts and pictures there were. */
  shown: number;
}

function writeText({ written, open }: Part, source: string): void {
  const isField = open.at(-1)?.name === 'instrText';
  written.push(isField ? encodeXml(fieldLink(decodeXml(source))) : source);
}

/**
 * Links of fields in the one form that the converter reads: an address with its place, or a place of the document. A
 * reference to a bookmark is a link to it.
 */
function fieldLink(code: string): string {
  const reference = /^\s*REF\s+"?([^\s"\\]+)"?\s[^"]*\\h/.exec(code);
  if (reference) return ` HYPERLINK \\l "${reference[1]}" `;
  if (!/^\s*HYPERLINK\s/.test(code)) return code;
  const place = /\\l\s+"([^"]*)"/.exec(code)?.[1];
  const address = /^\s*HYPERLINK\s+"([^"]*)"/.exec(code)?.[1];
  if (!address) return place === undefined ? code : ` HYPERLINK \\l "${place}" `;
  return ` HYPERLINK "${address}${place === undefined ? '' : `#${place}`}" `;
}

function openElement(part: Part, token: XmlToken): void {
  const { written, open, losses } = part;
  const name = localName(token.name);
  const parent = open.at(-1);
  const element: Open = { name, at: written.length, shown: part.shown, lossesBefore: losses.losses.length };
  if (name === 't' || name === 'imagedata' || name === 'blip') part.shown += 1;
  open.push(element);
  if ((name === 'blip' || name === 'imagedata') && !FILE_OF_PICTURE.test(token.source)) losses.sum('picture', '');
  if (name === 'fldSimple') return openField(part, element, token);
  if ((name === 'vanish' || name === 'del') && parent && /^(?:r|tr)Pr$/.test(parent.name)) {
    const owner = open.at(-3);
    const isOn = !/^(?:0|false|off)$/.test(attributesOf(token.source).val ?? '');
    if (name === 'vanish' && owner?.name === 'r' && isOn) owner.removed = 'hidden_text';
    if (name === 'del' && owner?.name === 'tr') owner.removed = 'tracked_change';
  } else if (name === 'del' || name === 'moveFrom') element.removed = 'tracked_change';
  if (name === 'cr') written.push(`<${part.prefix}:br/>`);
  else if (name === 'chart' || name === 'relIds' || name === 'OLEObject' || name === 'altChunk')
    addEmbedded(part, name, token);
  else if (!UNWRAPPED.has(name)) written.push(token.source);
}

function openField({ written, prefix }: Part, element: Open, { source }: XmlToken): void {
  const [, link] = / HYPERLINK \\l "([^"]*)"/.exec(fieldLink(attributesOf(source).instr ?? '')) ?? [];
  if (link === undefined) return;
  written.push(`<${prefix}:hyperlink ${prefix}:anchor="${encodeXml(link)}">`);
  element.closing = `</${prefix}:hyperlink>`;
}

/** Something that is not text of the document: a diagram's text is shown, the rest is listed. */
function addEmbedded({ losses, open, related }: Part, name: string, { source }: XmlToken): void {
  const attributes = attributesOf(source);
  const texts = related(attributes[name === 'relIds' ? 'dm' : 'id'] ?? '');
  const drawing = open.findLast((element) => element.name === 'drawing');
  if (name === 'relIds' && texts.length > 0 && drawing) {
    (drawing.boxes ??= []).push(...texts.map((text) => `<w:p><w:r><w:t>${encodeXml(text)}</w:t></w:r></w:p>`));
  } else if (name === 'OLEObject' && /^Equation\./.test(attributes.ProgID ?? '')) {
    losses.addThing('equation', attributes.ProgID ?? '');
  } else if (texts.length > 0) losses.add('embedded_object', texts.join(' '));
  else
    losses.addThing('embedded_object', attributes.ProgID ?? { chart: 'chart', relIds: 'diagram' }[name] ?? 'document');
}

function closeElement(part: Part, token: XmlToken): void {
  const { written, open, losses } = part;
  const name = localName(token.name);
  const element = open.at(-1);
  if (element?.name !== name) {
    // XML that is not well-formed is for the converter to refuse.
    written.push(token.source);
    return;
  }
  open.pop();
  const isWritten = token.type === 'close' && !UNWRAPPED.has(name);
  if (element.closing !== undefined) written.push(element.closing);
  else if (isWritten && !/^(?:fldSimple|chart|relIds|OLEObject|altChunk|cr)$/.test(name)) written.push(token.source);
  if (element.removed) {
    const text = textOfXml(written.splice(element.at).join(''));
    if (text.trim() !== '') losses.add(element.removed, text);
  } else CLOSERS[name]?.(part, element);
}

const CLOSERS: Record<string, (part: Part, element: Open) => void> = {
  oMath: (part, element) => writeEquation(part, element, part.open.at(-1)?.name === 'oMathPara'),
  oMathPara({ written }, { at }) {
    // Only its equations, which are runs.
    const equations = written
      .splice(at)
      .join('')
      .match(/<w:r .*?<\/w:r>/gs);
    written.push((equations ?? []).join(''));
  },
  Choice: (part, element) => endBranch(part, 'choice', element),
  Fallback: (part, element) => endBranch(part, 'fallback', element),
  AlternateContent: closeAlternatives,
  txbxContent({ written, open }, { at }) {
    const frame = open.findLast((element) => /^(?:drawing|pict|object)$/.test(element.name));
    if (frame)
      (frame.boxes ??= []).push(
        written
          .splice(at)
          .join('')
          .replace(/^<[^>]*>|<\/[^>]*>$/g, ''),
      );
  },
  drawing: writeBoxes,
  pict: writeBoxes,
  object: writeBoxes,
  rt({ written, open }, { at }) {
    const ruby = open.at(-1);
    if (ruby?.name === 'ruby') ruby.reading = written.splice(at);
  },
  ruby({ written, prefix: w }, { reading }) {
    if (reading) written.push(`<${w}:t>(</${w}:t>${reading.join('')}<${w}:t>)</${w}:t>`);
  },
};

function writeEquation({ written, losses }: Part, { at }: Open, isDisplay: boolean): void {
  const xml = written.splice(at).join('');
  const [math] = parseXmlPiece(xml).children;
  const text = textOfXml(xml).trim();
  const tex = math && ommlToTex(math);
  if (text === '' && !tex) return;
  if (tex === undefined) losses.add('equation', text);
  const style =
    tex === undefined
      ? ''
      : `<w:rPr><w:rStyle w:val="${isDisplay ? MATH_STYLES.display : MATH_STYLES.inline}"/></w:rPr>`;
  written.push(`<w:r ${WORD}>${style}<w:t xml:space="preserve">${encodeXml(tex ?? ` ${text} `)}</w:t></w:r>`);
}

const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const VML = 'xmlns:v="urn:schemas-microsoft-com:vml"';

function endBranch({ written, open, losses, shown }: Part, name: 'choice' | 'fallback', branch: Open): void {
  const alternatives = open.at(-1);
  if (alternatives?.name !== 'AlternateContent') return;
  alternatives[name] = {
    written: [branch.at, written.length],
    losses: [branch.lossesBefore, losses.losses.length],
    shown: shown - branch.shown,
  };
}

/** Of alternate content the form for older programs, if it says something: the converter knows that best. */
function closeAlternatives({ written, losses }: Part, { choice, fallback }: Open): void {
  if (!choice || !fallback) return;
  const dropped = fallback.shown > 0 || choice.shown === 0 ? choice : fallback;
  const remove = (list: unknown[], [start, end]: [number, number]) => list.splice(start, end - start);
  remove(written, dropped.written);
  remove(losses.losses, dropped.losses);
}

function writeBoxes({ written }: Part, { boxes }: Open): void {
  if (boxes)
    written.push(
      `<w:pict ${WORD}><v:textbox ${VML}><w:txbxContent>${boxes.join('')}</w:txbxContent></v:textbox></w:pict>`,
    );
}
