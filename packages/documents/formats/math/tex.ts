import { ACCENTS, ACCENTS_BELOW, ALPHABETS, COMMANDS, FUNCTIONS, LIMITED, WIDE } from './tex-symbols.ts';

/**
 * Builds TeX for mathematics from another format (Office Math, MathML). No piece contains a bare `|` or a line end, so
 * that a formula fits a line or a table cell of Markdown.
 */

/** The limit of nesting; formulas are rarely nested deeper than ten. */
export const DEPTH_MAX = 100;
/** The limit of a formula's TeX, in UTF-16 units; elements can repeat accents and limits. */
export const TEX_MAX = 20_000;

/** Thrown by a conversion at an element without a form in TeX. */
export class Unconvertible extends Error {}

/** Runs a conversion and trims its result; undefined if it throws Unconvertible or exceeds TEX_MAX. */
export function convertedBy(convert: () => string): string | undefined {
  try {
    const made = convert().trim();
    return made.length > TEX_MAX ? undefined : made;
  } catch (error) {
    if (error instanceof Unconvertible) return undefined;
    throw error;
  }
}

/** Invisible operators and marks. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|[\ufe00-\ufe0f]/g;

/** Joins pieces, with a space between a command and a letter. */
export function join(pieces: readonly string[]): string {
  const joined: string[] = [];
  let last = '';
  for (const piece of pieces) {
    if (piece === '') continue;
    // Examine the end only, so that a long formula takes linear time.
    const isCommand = /\\[a-zA-Z]+$/.test(last.slice(-COMMAND_MAX));
    joined.push(isCommand && /^[a-zA-Z]/.test(piece) ? ` ${piece}` : piece);
    last = piece;
  }
  return joined.join('');
}

const COMMAND_MAX = 30;

/** Converts the characters of a mathematical text: operators, letters and digits. */
export function symbols(text: string): string {
  return join(Array.from(text.replace(INVISIBLE, '').replace(/\s+/g, ' '), symbol)).trim();
}

function symbol(character: string): string {
  const command = COMMANDS.get(character);
  if (command !== undefined) return command;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x1d400 || code > 0x1d7ff) return character;
  const plain = character.normalize('NFKC');
  const name = code < 0x1d6a4 ? ALPHABETS[Math.floor((code - 0x1d400) / 52)] : code >= 0x1d7ce ? 'mathbf' : '';
  const letter = COMMANDS.get(plain) ?? plain;
  return name ? `\\${name}{${letter}}` : letter;
}

/** Converts a name of several letters to a function or upright letters. */
export function name(text: string): string {
  const word = text.replace(INVISIBLE, '').trim();
  if (FUNCTIONS.has(word)) return `\\${word}`;
  return /^[\p{L}\p{N}]{2,}$/u.test(word) && /[a-z]/i.test(word) ? `\\mathrm{${symbols(word)}}` : symbols(word);
}

/** Converts words in a formula. */
export function words(text: string): string {
  const shown = text.replace(INVISIBLE, '').replace(/\s+/g, ' ');
  if (shown.trim() === '') return shown === '' ? '' : '\\ ';
  const escaped = shown.replace(/[\\{}$&#%_^~|]/g, (special) => TEXT_ESCAPES[special] ?? `\\${special}`);
  return `\\text{${escaped}}`;
}

const TEXT_ESCAPES: Record<string, string> = {
  '\\': '\\textbackslash ',
  '^': '\\textasciicircum ',
  '~': '\\textasciitilde ',
  '|': '\\textbar ',
};

/** Wraps letters in an alphabet: mathbb, mathbf, mathcal, mathfrak, mathrm, mathsf, mathtt. */
export function alphabet(command: string, tex: string): string {
  return command === '' || tex === '' ? tex : `\\${command}{${tex}}`;
}

export function fraction(numerator: string, denominator: string): string {
  return `\\frac{${numerator}}{${denominator}}`;
}

export function stacked(above: string, below: string): string {
  return `\\genfrac{}{}{0pt}{}{${above}}{${below}}`;
}

export function root(radicand: string, degree = ''): string {
  if (degree === '') return `\\sqrt{${radicand}}`;
  return `\\sqrt[${degree.includes(']') ? `{${degree}}` : degree}]{${radicand}}`;
}

/** Adds subscript and superscript; "" for none. */
export function scripts(base: string, sub: string, sup: string): string {
  const lower = sub === '' ? '' : `_{${sub}}`;
  const isPrime = /^'+$/.test(sup);
  const upper =
    sup === '' ? '' : isPrime && sub === '' ? sup : `^{${isPrime ? sup.replaceAll("'", '\\prime ').trim() : sup}}`;
  if (lower === '' && upper === '') return base;
  return `${isAtom(base) ? base : `{${base}}`}${lower}${upper}`;
}

/** Adds limits below and above an operator, or marks below and above any other base. */
export function limits(base: string, below: string, above: string): string {
  if (LIMITED.test(base)) return scripts(base, below, above);
  if (/^\\(?:i*int|oint)$/.test(base)) return scripts(`${base}\\limits`, below, above);
  if (above === '' && /^\\underbrace\{/.test(base)) return `${base}_{${below}}`;
  if (below === '' && /^\\overbrace\{/.test(base)) return `${base}^{${above}}`;
  const under = below === '' ? base : `\\underset{${below}}{${base}}`;
  return above === '' ? under : `\\overset{${above}}{${under}}`;
}

/** Adds an accent above or below; undefined if the character is not an accent. */
export function accent(character: string, base: string, isBelow = false): string | undefined {
  const known = (isBelow ? ACCENTS_BELOW : ACCENTS).get(character.trim());
  if (known === undefined) return undefined;
  return `\\${isAtom(base) ? known : (WIDE.get(known) ?? known)}{${base}}`;
}

/** Adds delimiters that grow with their content; "" for none on a side. */
export function fenced(open: string, content: string, close: string): string {
  const array = /^\\begin\{(matrix|aligned)\}([\s\S]*)\\end\{\1\}$/.exec(content);
  if (array && !(array[2] ?? '').includes('\\begin{')) {
    const [, kind, rows = ''] = array;
    const isCases = open === '{' && close === '';
    const environment = isCases ? 'cases' : kind === 'matrix' ? MATRICES[open + close] : undefined;
    if (environment) return `\\begin{${environment}}${rows}\\end{${environment}}`;
  }
  return `\\left${delimiter(open)}${content}\\right${delimiter(close)}`;
}

const MATRICES: Record<string, string> = {
  '()': 'pmatrix',
  '[]': 'bmatrix',
  '{}': 'Bmatrix',
  '||': 'vmatrix',
  '‖‖': 'Vmatrix',
};

function delimiter(character: string): string {
  if (character === '') return '.';
  const tex = symbols(character);
  return /[a-z]$/i.test(tex) ? `${tex} ` : tex;
}

export function matrix(rows: readonly (readonly string[])[]): string {
  return `\\begin{matrix}${rows.map((cells) => cells.join(' & ')).join(' \\\\ ')}\\end{matrix}`;
}

/** Writes lines of equations, which contain their own `&` for alignment. */
export function lines(equations: readonly string[]): string {
  return `\\begin{aligned}${equations.join(' \\\\ ')}\\end{aligned}`;
}

/** Whether scripts may follow without braces around the base. */
function isAtom(tex: string): boolean {
  return /^(?:.|\d+|\\[a-zA-Z]+(?:\\limits)?|\\[a-z]+\{[^{}\\]\}|\{[^{}]*\}|\{\})$/su.test(tex) || tex === '';
}
