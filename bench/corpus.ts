import { globSync, readdirSync, readFileSync } from 'node:fs';

const CORPORA = new URL('../../shared/corpora/', import.meta.url);
const PAGES_OF_A_FOLDER = 100;

export type Files = Record<string, string>;

/** Returns pseudorandom numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns 600 short Markdown pages of tldr-pages, or as many generated ones of that size (about 600 bytes). */
export function shortPages(): Files {
  const names = namesIn(new URL('tldr/common/', CORPORA));
  if (names.length === 0) return generatePages({ from: 1_000_000, count: 600, bytes: 600 });
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(new URL(`tldr/common/${encodeURIComponent(name)}`, CORPORA), 'utf8')]),
  );
}

/**
 * Generates pages of about this length in bytes, with the headings, lists, tables and code of the project's own
 * documentation.
 */
export function documentationPages({ count, bytes }: { count: number; bytes: number }): Files {
  const sections = sectionTexts();
  const random = randomNumbers(15);
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      let text = `# Document ${i}\n`;
      while (text.length < bytes) text += `\n${pick(sections, random).slice(0, bytes)}\n`;
      return [`documents/document-${i}.md`, text];
    }),
  );
}

/** Returns a word that no other page has, of alternating consonants and vowels. */
function inventedWord(n: number): string {
  let word = '';
  for (let rest = n + 8_000; rest > 0; rest = Math.floor(rest / 100)) {
    word += `${'bdfghklmnprstvwxzjcq'[rest % 20]}${'aeiou'[Math.floor(rest / 20) % 5]}`;
  }
  return word;
}

/**
 * Combines real texts (manual pages in English and Japanese, abstracts, sections of the project's documentation) into
 * pages of about 1,800 bytes. Each page has a unique pair of texts and three unique words, so that the vocabulary grows
 * like a wiki's.
 */
export function combinedPages(count: number): Files {
  const texts = [
    ...Object.values(shortPages()),
    ...japanesePages(),
    ...abstractTexts(),
    ...sectionTexts().map((text) => text.slice(0, 2_000)),
  ];
  const random = randomNumbers(23);
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const [one, other] = [pick(texts, random).trim(), pick(texts, random).replace(/^# /, '## ').trim()];
      const own = [0, 1, 2].map((n) => inventedWord(3 * i + n)).join(' ');
      return [nameOf(i), `${/^# /.test(one) ? '' : `# Page ${i}\n\n`}${one}\n\n${other}\n\nNames: ${own}.\n`];
    }),
  );
}

function japanesePages(): string[] {
  return namesIn(new URL('tldr/ja/', CORPORA)).map((name) =>
    readFileSync(new URL(`tldr/ja/${encodeURIComponent(name)}`, CORPORA), 'utf8'),
  );
}

function sectionTexts(): string[] {
  const root = new URL('../', import.meta.url);
  const names = globSync(['docs/**/*.md', 'packages/**/*.md', 'src/**/*.md', '*.md'], { cwd: root }).sort();
  return names.flatMap((name) => readFileSync(new URL(name, root), 'utf8').split(/\n(?=## )/));
}

function abstractTexts(): string[] {
  if (!namesIn(new URL('search/cranfield/', CORPORA)).includes('corpus.jsonl')) return [];
  return readFileSync(new URL('search/cranfield/corpus.jsonl', CORPORA), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { text: string }).text);
}

/** Sentences of real text for generated pages: abstracts of a corpus, else the project's own documentation. */
let sentences: string[] | undefined;

function realSentences(): string[] {
  if (sentences) return sentences;
  const abstracts = abstractTexts();
  const readDocumentation = () =>
    ['README.md', 'ARCHITECTURE.md'].map((name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
  sentences = (abstracts.length > 0 ? abstracts : readDocumentation())
    .flatMap((text) => text.split(/[.:|\n]\s+/))
    .map((sentence) =>
      sentence
        .replace(/[^\p{L}\p{N} ,'-]/gu, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((sentence) => sentence.length >= 20 && sentence.length <= 300);
  return sentences;
}

/** Returns words that occur in the pages, for queries. */
export function someWords(count: number, random = randomNumbers(7)): string[] {
  const from = realSentences();
  const words = new Set<string>();
  while (words.size < count) {
    const candidates = pick(from, random).split(' ');
    const word = pick(candidates, random).toLowerCase();
    if (/^[a-z]{5,}$/.test(word)) words.add(word);
  }
  return [...words];
}

/**
 * Generates Markdown pages `from` to `from + count - 1` in folders of 100, each with its own text and, unless it is very
 * short, a link to a random page of its folder.
 */
export function generatePages({ from, count, bytes }: { from: number; count: number; bytes: number }): Files {
  const files: Files = {};
  for (let i = from; i < from + count; i += 1) files[nameOf(i)] = generatePage(i, bytes);
  return files;
}

function nameOf(i: number): string {
  return `part-${Math.floor(i / PAGES_OF_A_FOLDER)}/page-${i}.md`;
}

function generatePage(i: number, bytes: number): string {
  const random = randomNumbers(i + 1);
  const from = realSentences();
  const sentence = () => {
    const words = pick(from, random).split(' ');
    // Every sixth word comes from another sentence, so that no two pages share sentences.
    const own = words.map((word) => (random() < 1 / 6 ? pick(pick(from, random).split(' '), random) : word));
    const text = own.join(' ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  const title = () => sentence().split(' ').slice(0, 5).join(' ').replace(/[.,]$/, '');
  let text = `# ${title()} ${i}\n\n${sentence()} ${sentence()}\n`;
  for (let section = 0; text.length < bytes; section += 1) {
    text += `\n## ${title()}\n\n`;
    if (section % 3 === 0) text += `${sentence()} **${title()}**, ${sentence()} ${sentence()}\n`;
    else if (section % 3 === 1) text += `- ${sentence()}\n- \`${title()}\`\n- ${sentence()}\n`;
    else text += `| ${title()} | ${title()} |\n| --- | --- |\n| ${title()} | ${title()} |\n\n${sentence()}\n`;
    if (section === 1) {
      const neighbour = i - (i % PAGES_OF_A_FOLDER) + Math.floor(random() * PAGES_OF_A_FOLDER);
      text += `\nSee [${title()}](page-${neighbour}.md).\n`;
    }
  }
  return text;
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** Returns the names in a folder; none if it does not exist, because only some checkouts have the corpora. */
function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
