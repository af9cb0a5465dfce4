/** An element of a piece of XML. Names lose their prefix; `text` is the element's direct text. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  text: string;
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const ATTRIBUTE = /([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Decodes character references and predefined entities; entities that a document defines are kept. */
export function decodeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}

export function encodeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns the attributes of a tag by name without prefix. */
export function attributesOf(tag: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name = '', double, single] of tag.matchAll(ATTRIBUTE)) {
    attributes[localName(name)] = decodeXml(double ?? single ?? '');
  }
  return attributes;
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** A tag, or the text between two tags. */
export interface XmlToken {
  type: 'open' | 'close' | 'empty' | 'text';
  /** The name of a tag with its prefix; "" for text. */
  name: string;
  /** The source text. */
  source: string;
}

/**
 * Yields the tags and texts of XML in order, without comments, declarations and processing instructions. Stops early at
 * damaged XML; a parser has to check that it is well-formed.
 */
export function* xmlTokens(xml: string): Generator<XmlToken> {
  let at = 0;
  while (at < xml.length) {
    const start = xml.indexOf('<', at);
    if (start !== at) yield { type: 'text', name: '', source: xml.slice(at, start < 0 ? xml.length : start) };
    if (start < 0) return;
    const end = tagEnd(xml, start);
    if (end < 0) return;
    at = end;
    const second = xml[start + 1];
    if (second === '!') {
      const source = xml.slice(start, end);
      if (source.startsWith('<![CDATA[')) yield { type: 'text', name: '', source: encodeXml(source.slice(9, -3)) };
    } else if (second !== '?') yield tagOf(xml.slice(start, end));
  }
}

/** The limit of nesting; Word nests elements 100 deep at most. */
const DEPTH_MAX = 2_000;

/**
 * Whether every end tag matches the innermost open element, and nesting stays within the limit. Takes linear time,
 * unlike parsers that repair XML.
 */
export function isNested(xml: string): boolean {
  const open: string[] = [];
  for (const { type, name } of xmlTokens(xml)) {
    if (type === 'open') open.push(name);
    else if (type === 'close' && open.pop() !== name) return false;
    if (open.length > DEPTH_MAX) return false;
  }
  return true;
}

function tagOf(source: string): XmlToken {
  const isClose = source[1] === '/';
  // Some programs write a space after the slash.
  const isEmpty = source.slice(-100, -1).trimEnd().endsWith('/');
  let end = isClose ? 2 : 1;
  const first = end;
  while (end < source.length && !/[\s/>]/.test(source[end] as string)) end += 1;
  return { type: isClose ? 'close' : isEmpty ? 'empty' : 'open', name: source.slice(first, end), source };
}

/** Returns the offset after the tag, comment or CDATA section that begins at `start`; -1 if it does not end. */
function tagEnd(xml: string, start: number): number {
  if (xml.startsWith('<!--', start)) return after(xml, '-->', start);
  if (xml.startsWith('<![CDATA[', start)) return after(xml, ']]>', start);
  if (xml.startsWith('<?', start)) return after(xml, '?>', start);
  let end = xml.indexOf('>', start);
  // An attribute may contain `>`, which is rare: then the quotes before it do not pair up.
  for (let i = 0; end >= 0 && i < 100 && hasOpenQuote(xml.slice(start, end)); i += 1) end = xml.indexOf('>', end + 1);
  return end < 0 ? -1 : end + 1;
}

function after(xml: string, mark: string, start: number): number {
  const found = xml.indexOf(mark, start);
  return found < 0 ? -1 : found + mark.length;
}

function hasOpenQuote(tag: string): boolean {
  let quote = '';
  for (const character of tag) {
    if (quote === '') quote = character === '"' || character === "'" ? character : '';
    else if (character === quote) quote = '';
  }
  return quote !== '';
}

/** Parses the elements of a piece of XML. Skips elements nested deeper than `depthMax`. */
export function parseXmlPiece(xml: string, depthMax = 200): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let skipped = 0;
  for (const { type, name, source } of xmlTokens(xml)) {
    const parent = open.at(-1) as XmlElement;
    if (type === 'text') {
      if (skipped === 0) parent.text += decodeXml(source);
    } else if (type === 'close') {
      if (skipped > 0) skipped -= 1;
      else if (open.length > 1) open.pop();
    } else if (skipped > 0 || open.length > depthMax) {
      if (type === 'open') skipped += 1;
    } else {
      const element = { name: localName(name), attributes: attributesOf(source), children: [], text: '' };
      parent.children.push(element);
      if (type === 'open') open.push(element);
    }
  }
  return root;
}
