import * as tex from '../math/tex.ts';
import type { XmlElement } from './xml-tree.ts';

const SCRIPTS: Record<string, string> = {
  'double-struck': 'mathbb',
  script: 'mathcal',
  fraktur: 'mathfrak',
  'sans-serif': 'mathsf',
  monospace: 'mathtt',
};

/** Properties, revision marks and bookmarks. */
const IGNORED =
  /^(?:\w+Pr|del|moveFrom|bookmarkStart|bookmarkEnd|proofErr|comment\w+|perm\w+|br|lastRenderedPageBreak)$/;
const GROUPS = new Set(
  'oMath oMathPara box e num den deg fName lim sub sup ins moveTo smartTag sdt sdtContent hyperlink'.split(' '),
);

/**
 * Converts an equation of Word (m:oMath, ECMA-376 part 1, 22.1) to TeX; undefined if it contains an unknown element.
 */
export function ommlToTex(math: XmlElement): string | undefined {
  return tex.convertedBy(() => group(math, 0));
}

function group(node: XmlElement | undefined, depth: number): string {
  return node ? tex.join(node.children.map((child) => convert(child, depth + 1))) : '';
}

function convert(node: XmlElement, depth: number): string {
  if (depth > tex.DEPTH_MAX) throw new tex.Unconvertible();
  const { name } = node;
  const arg = (child: string) => group(find(node, child), depth);
  const converter = CONVERTERS[name];
  if (converter) return converter(node, arg, depth);
  if (GROUPS.has(name)) return group(node, depth);
  if (IGNORED.test(name)) return '';
  throw new tex.Unconvertible();
}

type Converter = (node: XmlElement, arg: (child: string) => string, depth: number) => string;

const CONVERTERS: Record<string, Converter> = {
  r: run,
  f(node, arg) {
    const type = property(node, 'fPr', 'type');
    if (type === 'noBar') return tex.stacked(arg('num'), arg('den'));
    return type === 'lin' ? `${arg('num')}/${arg('den')}` : tex.fraction(arg('num'), arg('den'));
  },
  rad: (node, arg) => tex.root(arg('e'), isOn(node, 'radPr', 'degHide') ? '' : arg('deg')),
  sSup: (_node, arg) => tex.scripts(arg('e'), '', arg('sup')),
  sSub: (_node, arg) => tex.scripts(arg('e'), arg('sub'), ''),
  sSubSup: (_node, arg) => tex.scripts(arg('e'), arg('sub'), arg('sup')),
  sPre: (_node, arg) => `${tex.scripts('{}', arg('sub'), arg('sup'))}${arg('e')}`,
  nary,
  d: delimited,
  func: (_node, arg) => `${arg('fName')} ${arg('e')}`,
  limLow: (_node, arg) => tex.limits(arg('e'), arg('lim'), ''),
  limUpp: (_node, arg) => tex.limits(arg('e'), '', arg('lim')),
  acc: (node, arg) => withMark(property(node, 'accPr', 'chr') ?? '\u0302', arg('e')),
  bar: (node, arg) => `\\${property(node, 'barPr', 'pos') === 'top' ? 'overline' : 'underline'}{${arg('e')}}`,
  groupChr(node, arg) {
    const isBelow = property(node, 'groupChrPr', 'pos') !== 'top';
    return withMark(property(node, 'groupChrPr', 'chr') ?? '⏟', arg('e'), isBelow);
  },
  borderBox: (_node, arg) => `\\boxed{${arg('e')}}`,
  phant: (node, arg) => (property(node, 'phantPr', 'show') === '0' ? `\\phantom{${arg('e')}}` : arg('e')),
  m: (node, _arg, depth) => tex.matrix(all(node, 'mr').map((row) => all(row, 'e').map((cell) => group(cell, depth)))),
  eqArr: (node, _arg, depth) => tex.lines(all(node, 'e').map((line) => group(line, depth).replaceAll('\\&', '&'))),
};

function run(node: XmlElement): string {
  const text = all(node, 't')
    .map((child) => child.text)
    .join('');
  const properties = find(node, 'rPr');
  const of = (child: string) => properties?.children.find(({ name }) => name === child);
  if (of('nor')) return tex.words(text);
  const style = of('sty')?.attributes.val;
  const script = SCRIPTS[of('scr')?.attributes.val ?? ''];
  if (script) return tex.alphabet(script, tex.symbols(text));
  if (style === 'p') return tex.join(text.split(/(\p{L}+)/u).map((part) => tex.name(part)));
  if (style === 'b' || style === 'bi') return tex.alphabet(style === 'b' ? 'mathbf' : 'boldsymbol', tex.symbols(text));
  return tex.symbols(text);
}

function nary(node: XmlElement, arg: (child: string) => string): string {
  const operator = tex.symbols(property(node, 'naryPr', 'chr') ?? '∫');
  const sub = isOn(node, 'naryPr', 'subHide') ? '' : arg('sub');
  const sup = isOn(node, 'naryPr', 'supHide') ? '' : arg('sup');
  const isUnderOver = property(node, 'naryPr', 'limLoc') === 'undOvr';
  const head = isUnderOver ? tex.limits(operator, sub, sup) : tex.scripts(operator, sub, sup);
  return `${head} ${arg('e')}`;
}

function delimited(node: XmlElement, _arg: (child: string) => string, depth: number): string {
  const open = property(node, 'dPr', 'begChr') ?? '(';
  const close = property(node, 'dPr', 'endChr') ?? ')';
  const separator = tex.symbols(property(node, 'dPr', 'sepChr') ?? '|');
  const parts = all(node, 'e').map((part) => group(part, depth));
  return tex.fenced(open, parts.join(` ${separator} `), close);
}

function withMark(character: string, base: string, isBelow = false): string {
  const known = tex.accent(character, base, isBelow);
  if (known !== undefined) return known;
  return isBelow ? tex.limits(base, tex.symbols(character), '') : tex.limits(base, '', tex.symbols(character));
}

function find(node: XmlElement, name: string): XmlElement | undefined {
  return node.children.find((child) => child.name === name);
}

function all(node: XmlElement, name: string): XmlElement[] {
  return node.children.filter((child) => child.name === name);
}

/** Returns the value of a property; undefined if the property is absent, "" if it is present without a value. */
function property(node: XmlElement, properties: string, name: string): string | undefined {
  const found = node.children.find((child) => child.name === properties)?.children.find((child) => child.name === name);
  return found && (found.attributes.val ?? '');
}

function isOn(node: XmlElement, properties: string, name: string): boolean {
  const value = property(node, properties, name);
  return value !== undefined && !/^(?:0|false|off)$/.test(value);
}
