import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extent } from '../extent.ts';
import { listAll } from '../list-all.ts';
import { randomNumbers } from '../random-numbers.ts';
import { sharedWorld } from '../shared-world.ts';
import type { Owner } from '../world.ts';
import { docxOf, wordParagraph, zipOf } from '../zip.ts';

/**
 * Edits compiled pages of several formats, only through HTTP. An edit that changes the meaning is never verified, and
 * an edit that keeps it keeps the citation. AUDIT_EDITS: number of rounds, each with one edit of each sentence of each
 * page.
 */
const world = await sharedWorld();
const ROUNDS = Number(process.env.AUDIT_EDITS ?? extent(2, 1));

const SENTENCES = [
  'The maximum dose is 10 mg a day for adults.',
  'Valve 3 must not be opened before valve 4.',
  'José Álvarez signed the lease on 12 May 2019.',
  'The rate rose from 1.5 to 2.25 per cent in Lisbon.',
  'Pressure stays below 250 kPa at all times.',
  'Mary paid Peter 400 euros and 30 cents.',
  'At minus 40 degrees both scales agree.',
  'Nobody may enter room 101 without a badge.',
  'Add 2 parts water to 1 part acid.',
  'The ratio of A to B is 3 to 7.',
  'Only the owner can delete all 12 pages.',
  'The train leaves Zürich at 08:15 from track 9.',
];

const paragraphs = (wrap: (sentence: string) => string) => SENTENCES.map(wrap).join('');
const XHTML = (body: string) => `<html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`;

const FILES: Record<string, string | Buffer> = {
  'guide.md': `# Guide\n\n${SENTENCES.join('\n\n')}\n`,
  'items.md': `# Items\n\n${paragraphs((sentence) => `- ${sentence}\n`)}`,
  'notes.txt': SENTENCES.join('\n\n'),
  'page.html': `<h1>Page</h1>${paragraphs((sentence) => `<p>${sentence}</p>`)}`,
  'letter.docx': docxOf(wordParagraph('Letter', 'Heading1') + paragraphs((sentence) => wordParagraph(sentence))),
  'manual.adoc': `= Manual\n\n${SENTENCES.join('\n\n')}\n`,
  'mail.eml': `From: a@example.com\nSubject: Mail\nContent-Type: text/plain; charset=utf-8\n\n${SENTENCES.join('\n\n')}\n`,
  'work.ipynb': JSON.stringify({
    nbformat: 4,
    metadata: {},
    cells: SENTENCES.map((source) => ({ cell_type: 'markdown', source })),
  }),
  'rows.csv': `sentence,kind\n${paragraphs((sentence) => `${sentence},rule\n`)}`,
  'book.epub': zipOf([
    ['mimetype', 'application/epub+zip'],
    [
      'META-INF/container.xml',
      '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    ],
    [
      'c.opf',
      '<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
    ],
    ['a.xhtml', XHTML(`<h1>Book</h1>${paragraphs((sentence) => `<p>${sentence}</p>`)}`)],
  ]),
};

type Pick = (n: number) => number;
type Edit = (sentence: string, pick: Pick) => string;

/** Inserts a mark into a word or after a character. */
const inWord =
  (mark: string): Edit =>
  (s, pick) => {
    const at = [...s.matchAll(/(?<=\p{L})\p{L}/gu)].map(({ index }) => index);
    const place = at[pick(at.length)] ?? 1;
    return s.slice(0, place) + mark + s.slice(place);
  };
const around =
  (open: string, close: string): Edit =>
  (s, pick) => {
    const words = [...s.matchAll(/[\p{L}\p{N}]{2,}/gu)];
    const { 0: word = '', index = 0 } = words[pick(words.length)] ?? {};
    return s.slice(0, index) + open + word + close + s.slice(index + word.length);
  };
const swap =
  (table: Record<string, string>): Edit =>
  (s, pick) => {
    const at = [...s].map((c, i) => [c, i] as const).filter(([c]) => table[c] !== undefined);
    const [c = '', i = -1] = at[pick(at.length)] ?? [];
    return i < 0 ? s : s.slice(0, i) + table[c] + s.slice(i + 1);
  };
const digits = (of: (digit: number) => string) =>
  swap(Object.fromEntries([...'0123456789'].map((digit) => [digit, of(Number(digit))])));

/** Edits that change the meaning, or show other characters for the same meaning. */
const MEANINGS: Record<string, Edit> = {
  negation: (s, pick) => s.replace(/ (is|must|may|can|stays|rose|leaves) /, ` $1 ${['not', 'never'][pick(2)]} `),
  'no negation': (s) => s.replace(' not', '').replace('Nobody', 'Everybody').replace('Only the', 'The'),
  number: digits((digit) => String((digit + 1) % 10)),
  'one digit more': digits((digit) => `${digit}${digit}`),
  'another name': (s) => s.replace(/José Álvarez|Mary|Lisbon|Zürich|Peter/, 'Ada'),
  unit: (s) => s.replace(/ mg| kPa| euros| degrees| per cent|\d(?=\.$)/, ' kg'),
  case: (s) => s.replace(/ mg| A | kPa/, (unit) => unit.toUpperCase()).replace(/ part /, ' Part '),
  order: (s) => s.replace(/(\d[\d.:]*)(.*?)(\d[\d.:]*\d|\d)/, '$3$2$1'),
  'words in another order': (s, pick) => {
    const words = s.split(' ');
    const i = pick(words.length - 2);
    return words
      .with(i, words[i + 1] ?? '')
      .with(i + 1, words[i] ?? '')
      .join(' ');
  },
  'a word behind': (s) => s.replace(/\.$/, ' or more.'),
  'a sentence behind': (s) => `${s} This is no longer so.`,
  'a letter of another script': swap({ a: 'а', e: 'е', o: 'о', p: 'р', i: 'і', x: 'х' }),
  'a wide digit': digits((digit) => String.fromCodePoint(0xff10 + digit)),
  'a digit of another script': digits((digit) => String.fromCodePoint(0x660 + digit)),
  'a mathematical digit': digits((digit) => String.fromCodePoint(0x1d7ce + digit)),
  'a raised digit': digits((digit) => `${'⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]}`),
  'a space without width': inWord('\u200b'),
  'a joiner': inWord('\u2060'),
  'a soft hyphen': inWord('\u00ad'),
  'a variation': inWord('\ufe0f'),
  'a tag character': inWord('\u{e0061}'),
  'a letter with a mark': inWord('\u0338'),
  'a mark of the right to left': inWord('\u200f'),
  'turned around': around('\u202e', '\u202c'),
  isolated: around('\u2067', '\u2069'),
  'turned by an element': around('<bdo dir="rtl">', '</bdo>'),
  struck: around('~~', '~~'),
  'struck by an element': around('<s>', '</s>'),
  raised: around('<sup>', '</sup>'),
  lowered: around('<sub>', '</sub>'),
  'a picture of the words': around('![', '](a.png)'),
  'a formula': (s) => `$${s}$`,
  'a word as a formula': around('$', '$'),
  'a formula of lines': (s) => `$$ ${s} $$`,
  'a comment': around('<!--', '-->'),
  'not shown': around('%%', '%%'),
  gone: () => 'Something else entirely.',
};

/** Edits that keep the meaning. */
const LOOKS: Record<string, Edit> = {
  bold: around('**', '**'),
  italic: around('*', '*'),
  'bold by an element': around('<b>', '</b>'),
  marked: around('==', '=='),
  linked: around('[', '](https://example.com/elsewhere)'),
  'all bold': (s) => `**${s}**`,
  spaces: (s, pick) => s.replace(/ /g, (space) => space.repeat(1 + pick(3))),
  'a reference for a character': swap({ a: '&#97;', e: '&#x65;', o: '&#111;' }),
  escaped: (s) => s.replace(/\.$/, '\\.'),
  'accents apart': (s) => s.normalize('NFD'),
  'an element without a meaning': around('<span>', '</span>'),
  'a comment that is not shown': (s) => s.replace(' ', ' <!-- look --> '),
};

/** Edits of whole lines that keep the meaning. Cells of tables have no lines. */
const LINES: Record<string, (line: string, sign: string, pick: Pick) => string> = {
  reflowed: (s, sign, pick) => {
    const words = s.split(' ');
    const at = 1 + pick(words.length - 1);
    return `${sign}${words.slice(0, at).join(' ')}\n${' '.repeat(sign.length)}${words.slice(at).join(' ')}`;
  },
  'broken hard': (s, sign) => `${sign}${s.replace(/ (?=\S+$)/, `\\\n${' '.repeat(sign.length)}`)}`,
  'broken by spaces': (s, sign) => `${sign}${s.replace(/ (?=\S+$)/, `  \n${' '.repeat(sign.length)}`)}`,
  quoted: (s, sign) => (sign === '' ? `> ${s}` : `${sign}> ${s}`),
  'another mark': (s, sign) => (sign === '' ? `* ${s}` : `+ ${s}`),
  numbered: (s, sign) => (sign === '' ? `## ${s}` : `1. ${s}`),
};

interface Citation {
  quote: string;
  verified: boolean;
}

const owner: Owner = await world.owner();
const { body: upload } = await world.upload(owner, owner.wiki_id, FILES);
assert.equal(upload.status, 'completed', upload.error);
const pages = await listAll<{ page_id: string; path: string }>(owner, `/v1/wikis/${owner.wiki_id}/pages`);
const compiledPages = new Map<string, string>();
for (const { page_id } of pages)
  compiledPages.set(page_id, (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}`)).body.markdown);
const random = randomNumbers(107);
const pick: Pick = (n) => Math.floor(random() * n);

/** Edits each sentence of each page once per round. Returns for each edit whether the sentence is still verified. */
async function editAll(edit: (sentence: string, sign: string, isCell: boolean) => { name: string; line: string }) {
  const results: { name: string; path: string; line: string; verified: boolean | undefined }[] = [];
  for (const { page_id, path } of pages) {
    const at = `/v1/wikis/${owner.wiki_id}/pages/${page_id}`;
    const compiled = compiledPages.get(page_id) ?? '';
    for (let round = 0; round < ROUNDS; round += 1) {
      const edited: { name: string; sentence: string; line: string }[] = [];
      const lines = compiled.split('\n');
      for (const [i, text] of lines.entries()) {
        const sentence = SENTENCES.find((each) => text.includes(each));
        if (!sentence) continue;
        const isCell = text.startsWith('|');
        const sign = isCell ? '' : text.slice(0, text.indexOf(sentence));
        const { name, line } = edit(sentence, sign, isCell);
        lines[i] = isCell ? text.replace(sentence, () => line) : line;
        edited.push({ name, sentence, line });
      }
      const { body: now } = await owner.get(at);
      const saved = await owner.patch(at, { base_revision: now.revision, markdown: lines.join('\n') });
      assert.equal(saved.status, 200, JSON.stringify(saved.body));
      const citations = await listAll<Citation>(owner, `${at}/citations`);
      for (const { name, sentence, line } of edited) {
        const of = citations.find(({ quote }) => quote.includes(sentence));
        results.push({ name, path, line, verified: of?.verified });
      }
      assert.equal(edited.length, SENTENCES.length, `${path} has ${edited.length} of the sentences`);
    }
  }
  return results;
}

function oneOf<T>(table: Record<string, T>): [string, T] {
  const entries = Object.entries(table);
  return entries[pick(entries.length)] as [string, T];
}

test('an edit that changes the meaning is never verified, in pages of any format', async (t) => {
  const results = await editAll((sentence, sign) => {
    for (;;) {
      const [name, edit] = oneOf(MEANINGS);
      const line = edit(sentence, pick);
      if (line !== sentence) return { name, line: sign + line };
    }
  });
  const kept = results.filter(({ verified }) => verified !== false);
  assert.deepEqual(kept, [], `${kept.length} of ${results.length}`);
  t.diagnostic(`${results.length} edits`);
});

test('at most 1% of the edits that keep the meaning lose their citation, in pages of any format', async (t) => {
  const results = await editAll((sentence, sign, isCell) => {
    if (!isCell && pick(3) === 0) {
      const [name, edit] = oneOf(LINES);
      return { name, line: edit(sentence, sign, pick) };
    }
    const [name, edit] = oneOf(LOOKS);
    return { name, line: sign + edit(sentence, pick) };
  });
  const lost = results.filter(({ verified }) => verified !== true);
  assert.ok(
    lost.length <= results.length / 100,
    `${lost.length} of ${results.length}: ${JSON.stringify(lost, null, 1)}`,
  );
  t.diagnostic(`${results.length} edits, ${lost.length} lost`);
});
