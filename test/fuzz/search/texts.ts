/** Code points of letters, by script. */
const SCRIPTS: readonly (readonly [from: number, to: number])[] = [
  [0x61, 0x7a],
  [0xe0, 0xf6],
  [0x100, 0x17f],
  [0x3b1, 0x3c9],
  [0x430, 0x45f],
  [0x561, 0x586],
  [0x5d0, 0x5ea],
  [0x628, 0x64a],
  [0x905, 0x939],
  [0x985, 0x9b9],
  [0xb85, 0xbb9],
  [0xd85, 0xdc6],
  [0xe01, 0xe2e],
  [0xe81, 0xeae],
  [0xf40, 0xf6c],
  [0x1000, 0x1021],
  [0x10d0, 0x10f0],
  [0x1200, 0x1256],
  [0x13a0, 0x13ef],
  [0x1780, 0x17a2],
  [0x1820, 0x1842],
  [0x3041, 0x3096],
  [0x30a1, 0x30fa],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
];
/** Most texts use these letters, as in most wikis. */
const LATIN = 0;
/** Number of words of a script. As in a language, a few are in most texts, and most are in a few texts. */
const VOCABULARY = 20_000;
const LETTERS = SCRIPTS.map(([from, to]) =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i)).filter((one) => /\p{L}/u.test(one)),
);

export type Random = () => number;

export const below = (most: number, random: Random) => Math.floor(random() * most);
export const pick = <T>(all: readonly T[], random: Random) => all[below(all.length, random)] as T;

export interface FuzzedDocument {
  title: string;
  text: string;
}

/** Returns word `number` of a script. Equal numbers give equal words. */
function wordOf(script: number, number: number): string {
  const letters = LETTERS[script] as readonly string[];
  let state = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(script + 1, 0x85ebca6b);
  const next = (most: number) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    return (state >>> 8) % most;
  };
  return Array.from({ length: 2 + next(letters.length > 1_000 ? 2 : 8) }, () => letters[next(letters.length)]).join('');
}

const someWord = (script: number, random: Random) =>
  wordOf(script, Math.floor(VOCABULARY ** random() + (random() < 0.1 ? random() * VOCABULARY : 0)));

const someScript = (random: Random) => (random() < 0.3 ? LATIN : below(SCRIPTS.length, random));

/** Returns random code points; lone surrogates become U+FFFD. */
function anyCharacters(length: number, random: Random): string {
  const points = Array.from({ length }, () => below(random() < 0.5 ? 0x300 : 0x1_10000, random));
  return String.fromCodePoint(...points).toWellFormed();
}

/** Separators of words: mostly spaces, and punctuation of Markdown, code and sentences. */
const BETWEEN = [
  ', ',
  '. ',
  '\n\n',
  '\n- ',
  '\n\n## ',
  ' `',
  '` ',
  '-',
  '_',
  '.',
  '/',
  '’',
  '\n| ',
  ' [',
  '](https://a.example/',
];
const CODE = [
  'C++',
  '.NET',
  'Get-ChildItem',
  'NODE_ENV',
  '192.168.0.1',
  '3.2.1',
  'max_file_size',
  '--save-dev',
  '1,000,000',
];

/** Returns the word that only the document with this number has. */
export const ownWord = (number: number) =>
  Array.from(String(number).padStart(6, '0'), (digit) => 'bcdfghklmn'[Number(digit)]).join('');

/** Generates a document of one script, with words of others. */
export function someDocument(random: Random): FuzzedDocument {
  const script = someScript(random);
  const words = 8 + below(random() < 0.02 ? 2_000 : 80, random);
  let text = '';
  for (let i = 0; i < words; i += 1) {
    text += random() < 0.02 ? pick(CODE, random) : someWord(random() < 0.9 ? script : someScript(random), random);
    text += random() < 0.85 ? ' ' : pick(BETWEEN, random);
    if (random() < 0.001) text += anyCharacters(20, random).replaceAll('\0', '');
  }
  const title = Array.from({ length: 1 + below(5, random) }, () => someWord(script, random)).join(' ');
  return { title, text };
}

const QUOTES = ['""', '“”', '„“', '«»', '「」', '"', "''"];
const OPERATORS = [
  '-',
  '+',
  'title:',
  'path:',
  'tag:',
  'in:',
  'author:',
  'status:',
  'type:',
  '-title:',
  '--',
  'updated:>',
  'created:',
];
const VALUES = ['me', 'draft', 'page', 'source', '2026-01', '2026-11-01..*', '2026', '*', '""', 'archived', ''];

/** Returns a word with a letter missing, doubled, replaced or swapped with the next. */
function mistyped(word: string, random: Random): string {
  const letters = [...word];
  const at = below(letters.length, random);
  const others: string[][] = [
    [],
    [letters[at] ?? '', letters[at] ?? ''],
    ['e'],
    [letters[at + 1] ?? '', letters[at] ?? ''],
  ];
  letters.splice(at, random() < 0.25 ? 2 : 1, ...pick(others, random));
  return letters.join('') || word;
}

/** Generates a query for one of these documents, plausible or not. */
export function someQuery(documents: readonly FuzzedDocument[], random: Random): string {
  const script = someScript(random);
  const word = () => someWord(script, random);
  const words = (most: number) => Array.from({ length: 1 + below(most, random) }, word).join(' ');
  const { title, text } = pick(documents, random);
  const part = (most: number) => {
    const from = below(text.length, random);
    return text.slice(from, from + 1 + below(most, random)).toWellFormed();
  };
  const quoted = (inner: string) => {
    const quotes = pick(QUOTES, random);
    return `${quotes.at(0)}${inner}${quotes.at(1) ?? ''}`;
  };
  const ways: (() => string)[] = [
    () => words(6),
    () => title,
    () => part(60),
    () => quoted(part(30)),
    () => `${words(3)} ${quoted(part(20))} ${words(8)}`,
    () => `${pick(OPERATORS, random)}${random() < 0.5 ? word() : pick(VALUES, random)} ${words(3)}`,
    () =>
      Array.from({ length: 1 + below(6, random) }, () =>
        pick(['AND', 'OR', 'NOT', '(', ')', word(), part(8)], random),
      ).join(' '),
    () =>
      title
        .split(' ')
        .map((one) => mistyped(one, random))
        .join(random() < 0.2 ? '' : ' '),
    () => word().slice(0, 1 + below(4, random)),
    () => `${pick(CODE, random)} ${word()}`,
  ];
  const rare: (() => string)[] = [
    () => anyCharacters(1 + below(200, random), random),
    () => anyCharacters(1 + below(2_000, random), random),
    () => words(150),
    () => part(1_500),
    () =>
      Array.from({ length: 60 }, () => pick([...'"-+: ^%\'\\*()[]', 'title:', '検', '😀', '\u0301'], random)).join(''),
  ];
  const query = pick(random() < 0.97 ? ways : rare, random)();
  // The service limits the length, and a query of spaces is invalid.
  return query.slice(0, 2_000).toWellFormed() || word();
}
