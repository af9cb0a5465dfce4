import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withoutBeside } from '@ibid/markdown/blocks/block-form.ts';
import { targetOf } from '@ibid/markdown/blocks/block-targets.ts';
import { readPageText } from '@ibid/markdown/page-text.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { parseShownHtml } from '@ibid/markdown/shown-html.ts';
import { extent } from '../../../test/extent.ts';
import { randomNumbers } from '../../../test/random-numbers.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { changesOf, compareBlocks, readShownPage } from './shown-blocks.ts';

const CORPORA = fileURLToPath(new URL('../shared/corpora/tldr/common/', PACKAGE));
const DOCS = fileURLToPath(new URL('docs/decisions/', PACKAGE));
const EDITS = extent(1_200, 200);

const OWN = `# The device

Never press the red button before 10 minutes are over. The maximum dose is 10 mg a day.

- Anna Miller checks the valve every 3 hours
- Anna Miller checks the valve every 3 hours
- [x] Close the lid of the tank

| Part | Length | Width |
| ---- | ------ | ----- |
| Pipe | 10     |       |
| Lid  |        | 12    |

> The water must stay under 80 degrees at all times.

    if ready:
        start(10)
    stop()

It weighs 10<sup>6</sup> tons and ~~floats~~ sinks in sea water.
`;

function pages(): string[] {
  const folder = existsSync(CORPORA) ? CORPORA : DOCS;
  const files = globSync('*.md', { cwd: folder }).sort().slice(0, 250);
  return [OWN, ...files.map((file) => readFileSync(folder + file, 'utf8'))];
}

/** The compiled blocks of a page, in the form that cite-blocks.ts produces. */
function compiledOf(markdown: string) {
  const { text, blocks } = renderMarkdown(markdown);
  return blocks.map(({ start, end, form, context, targets }) => ({
    context,
    targets: targets.map((target) => targetOf(target, '')),
    quote: text.slice(start, end),
    form_sha256: hash('sha256', form),
    form_kind: 'whole' as const,
  }));
}

function lostIn(before: string, after: string): number {
  const shown = compareBlocks(compiledOf(before), readShownPage(renderMarkdown(after).html));
  return shown.filter((each) => each.shown !== 'unchanged').length;
}

/** Edits of a plain line that change its meaning; undefined if the line has no word to edit. */
const MEANINGS: Record<string, (words: string[], pick: (n: number) => number) => string[] | undefined> = {
  negation: (words, pick) => words.toSpliced(1 + pick(words.length - 1), 0, ['not', 'never', 'hardly'][pick(3)] ?? ''),
  'without negation': (words) => (words.includes('not') ? words.filter((word) => word !== 'not') : undefined),
  number(words, pick) {
    const at = words.findIndex((word) => /^\d/.test(word));
    return at < 0 ? undefined : words.with(at, `${1 + pick(9)}${words[at]}`);
  },
  name: (words, pick) => words.with(1 + pick(words.length - 1), ['Beatrice', 'Lisbon', 'zinc'][pick(3)] ?? ''),
  unit: (words) => [...words, 'per kilogram'],
  order(words, pick) {
    const at = pick(words.length - 1);
    const [a = '', b = ''] = [words[at], words[at + 1]];
    return a === b ? undefined : words.with(at, b).with(at + 1, a);
  },
  'a word before': (words) => ['Supposedly', ...words],
  'a word behind': (words) => [...words, 'or ten times that'],
  'a word less': (words, pick) => words.toSpliced(pick(words.length), 1),
  'one letter': (words, pick) => words.map((word, i) => (i === words.length - 1 ? `${word}${'xyz'[pick(3)]}` : word)),
  'struck out': (words, pick) => {
    const at = 1 + pick(words.length - 1);
    return words.with(at, `~~${words[at]}~~`);
  },
  raised: (words, pick) => {
    const at = 1 + pick(words.length - 1);
    return words.with(at, `<sup>${words[at]}</sup>`);
  },
  'a picture instead': (words) => [`![${words.join(' ')}](a.png)`],
};

/** Edits of a plain line that keep its meaning. */
const LOOKS: Record<string, (words: string[], pick: (n: number) => number) => string[]> = {
  bold: (words, pick) => wrapped(words, pick, '**', '**'),
  italics: (words, pick) => wrapped(words, pick, '*', '*'),
  link: (words, pick) => wrapped(words, pick, '[', '](https://example.com/a)'),
  spaces: (words, pick) => words.with(1, `${' '.repeat(pick(3))} ${words[1]}`),
  'all bold': (words) => ['**', ...words, '**'].reduce<string[]>(glued, []),
};

function wrapped(words: string[], pick: (n: number) => number, open: string, close: string): string[] {
  const at = pick(words.length);
  return words.with(at, `${open}${words[at]}${close}`);
}

function glued(all: string[], word: string): string[] {
  if (all.length === 0) return [word];
  if (all.length === 1 && all[0] === '**') return [`**${word}`];
  return word === '**' ? all.with(-1, `${all.at(-1)}**`) : [...all, word];
}

/** Lines of words without inline markup; `sign` is the mark of a heading, item or quotation. */
function linesOfWords(markdown: string): { at: number; sign: string; words: string[] }[] {
  return markdown.split('\n').flatMap((line, at) => {
    const [, sign = '', text] =
      /^((?:#+|-|>) )?([A-Za-z][A-Za-z0-9 ,.]*[A-Za-z0-9])$/.exec(line.replace(/[.:]$/, '')) ?? [];
    const words = text?.split(/ +/) ?? [];
    return words.length >= 3 ? [{ at, sign, words }] : [];
  });
}

function generate(edits: typeof MEANINGS, seed: number, check: (name: string, before: string, after: string) => void) {
  const random = randomNumbers(seed);
  const pick = (n: number) => Math.floor(random() * n);
  const texts = pages().filter((text) => linesOfWords(text).length > 0);
  const names = Object.keys(edits);
  let made = 0;
  for (let i = 0; made < EDITS; i += 1) {
    const before = texts[i % texts.length] ?? '';
    const lines = linesOfWords(before);
    const line = lines[pick(lines.length)];
    const name = names[pick(names.length)] ?? '';
    const words = line && edits[name]?.(line.words, pick);
    if (!line || !words || words.join(' ') === line.words.join(' ')) continue;
    const all = before.split('\n');
    const end = /[.:]$/.exec(all[line.at] ?? '')?.[0] ?? '';
    check(name, before, all.with(line.at, `${line.sign}${words.join(' ')}${end}`).join('\n'));
    made += 1;
  }
  return made;
}

test('none of a thousand edits that change the meaning stays verified, and no other block is lost', (t) => {
  const made = generate(MEANINGS, 15, (name, before, after) => {
    const lost = lostIn(before, after);
    assert.equal(lost, 1, `${name}: ${lost} blocks are not verified any more of\n${after}`);
  });
  t.diagnostic(`${made} edits`);
});

test('edits that keep the meaning lose at most one citation in a hundred', (t) => {
  let losing = 0;
  const made = generate(LOOKS, 16, (_, before, after) => {
    if (lostIn(before, after) > 0) losing += 1;
  });
  t.diagnostic(`${losing} of ${made} edits lose a citation`);
  assert.ok(losing <= made / 100, `${losing} of ${made} edits lose a citation`);
});

test('reflowing or moving a block, or changing the level of its heading or list, keeps it verified', () => {
  for (const [from, to] of [
    ['Never press the red button', 'Never press\nthe red   button'],
    ['# The device', '### The device'],
    ['- Anna Miller checks the valve every 3 hours\n', '* Anna Miller checks the valve every 3 hours\n'],
    ['> The water', 'The water'],
    [/> The water.*\n\n/, ''],
    ['| Pipe | 10     |       |', '| Pipe | 10 ||'],
    ['    if ready:\n        start(10)\n    stop()', '```python\nif ready:\n    start(10)\nstop()\n```'],
  ] as const) {
    const moved =
      to === ''
        ? `${OWN.replace(from, '')}\n${from instanceof RegExp ? from.exec(OWN)?.[0] : ''}`
        : OWN.replace(from, to);
    assert.notEqual(moved, OWN, `${from} must be there`);
    assert.equal(lostIn(OWN, moved), 0, `${from} → ${to}`);
  }
});

test('a block that is struck, raised, ticked, indented or moved to another column is not verified, and equal items match once', () => {
  for (const [from, to] of [
    ['10<sup>6</sup>', '106'],
    ['~~floats~~ sinks', 'floats sinks'],
    ['- [x] Close', '- [ ] Close'],
    ['| Pipe | 10     |       |', '| Pipe |        | 10    |'],
    ['    stop()', '        stop()'],
    ['- Anna Miller checks the valve every 3 hours\n', ''],
    ['10 mg', '<bdo dir="rtl">10</bdo> mg'],
  ] as const) {
    const edited = OWN.replace(from, to);
    assert.notEqual(edited, OWN, `${from} must be there`);
    assert.equal(lostIn(OWN, edited), 1, `${from} → ${to}`);
  }
});

test('a direction that differs from the direction of the letters unverifies a block, and a redundant direction does not', () => {
  const turned = {
    '<p dir="rtl">Press 5 - 3 now.</p>': 'Press 5 - 3 now.',
    'Press <span dir="rtl">5 - 3</span> now.': 'Press 5 - 3 now.',
    '<div dir="rtl">\n\nPress 5 - 3 now.\n\n</div>': 'Press 5 - 3 now.',
    '<ul dir="rtl"><li>Press 5 - 3</li></ul>': '- Press 5 - 3',
    '<table dir="rtl"><tr><td>5 - 3</td></tr></table>': '<table><tr><td>5 - 3</td></tr></table>',
    '<p dir="ltr">العالم 5 - 3</p>': 'العالم 5 - 3',
  };
  for (const [after, before] of Object.entries(turned)) {
    assert.equal(lostIn(before, after), 1, after);
    assert.equal(lostIn(after, after), 0, `${after} is what it was compiled as`);
  }
  const same = {
    '<p dir="ltr">Press 5 - 3 now.</p>': 'Press 5 - 3 now.',
    '<p dir="rtl">العالم 5 - 3</p>': 'العالم 5 - 3',
    '<div dir="auto">\n\nPress 5 - 3 now.\n\n</div>': 'Press 5 - 3 now.',
  };
  for (const [after, before] of Object.entries(same)) assert.equal(lostIn(before, after), 0, after);
  const mixed = '- العالم a\n- latin ب\n- 5 - 3\n\n```\nالعالم\n```\n\n| latin | العالم |\n|---|---|\n| 1 | 2 |\n';
  assert.equal(lostIn(mixed, mixed), 0, 'the directions that blocks are given turn nothing');
});

test('a spanning cell moves the cells after and below it into other columns', () => {
  const table = (...rows: string[]) => `<table>${rows.map((row) => `<tr>${row}</tr>`).join('')}</table>`;
  const before = table(
    '<th>a</th><th>b</th><th>c</th>',
    '<td>x</td><td>1</td><td>3</td>',
    '<td>y</td><td>2</td><td></td>',
  );
  const spanned = [
    // The expected number of rows with a changed meaning.
    [
      1,
      table(
        '<th>a</th><th>b</th><th>c</th>',
        '<td rowspan="2">x</td><td>1</td><td>3</td>',
        '<td>y</td><td>2</td><td></td>',
      ),
    ],
    [
      1,
      table(
        '<th>a</th><th>b</th><th>c</th>',
        '<td colspan="2">x</td><td>1</td><td>3</td>',
        '<td>y</td><td>2</td><td></td>',
      ),
    ],
    [
      // All rows are below other column heads.
      3,
      table(
        '<th colspan="2">a</th><th>b</th><th>c</th>',
        '<td>x</td><td>1</td><td>3</td>',
        '<td>y</td><td>2</td><td></td>',
      ),
    ],
  ] as const;
  for (const [lost, after] of spanned) {
    assert.equal(lostIn(before, after), lost, after);
    assert.equal(lostIn(after, after), 0, `${after} is what it was compiled as`);
  }
  const wide = `<table>${'<tr><td colspan="1000" rowspan="0">x'.repeat(2_000)}</table>`;
  const [longest = 0] = readShownPage(renderMarkdown(wide).html)
    .blocks.map(({ form }) => form.length)
    .sort((a, b) => b - a);
  assert.ok(longest < 200, 'a row has a bounded number of marks');
});

test('words do not match a formula or a diagram of the same characters', () => {
  const drawn = [
    'The rate is 10 % of 20',
    '$The rate is 10 % of 20$',
    '$$\nThe rate is 10 % of 20\n$$',
    '```mermaid\nThe rate is 10 % of 20\n```',
  ];
  // An inline formula and a display formula are the same formula.
  for (const before of drawn)
    for (const after of drawn)
      assert.equal(
        lostIn(before, after),
        Number((before === drawn[0]) !== (after === drawn[0])),
        `${before} → ${after}`,
      );
  const old = renderMarkdown('Let $x^2$ be ~~a~~ b.');
  const compiled = old.blocks.map(({ form }) => ({
    quote: old.text,
    form_sha256: hash('sha256', form.replace(/\ufdd9(.*?)\ufdd3/, '$1')),
    form_kind: 'undrawn' as const,
    context: '',
    targets: undefined,
  }));
  assert.deepEqual(
    compareBlocks(compiled, readShownPage(old.html)).map(({ shown }) => shown),
    ['unchanged'],
    'a page that was compiled before keeps its citations',
  );
});

const DOSES = `| Drug | Minimum | Maximum |
| ---- | ------- | ------- |
| A    | 1 mg    | 8 mg    |
| B    |         | 9 mg    |
`;

test('a table row depends on the heads of its cells, and not on the order of columns and rows', () => {
  const rows = DOSES.split('\n').slice(2).join('\n');
  for (const head of ['| Drug | Maximum | Minimum |', '| Drug | Minimum | Never |', '| Drug | ~~Minimum~~ | Maximum |'])
    assert.equal(lostIn(DOSES, `${head}\n|-|-|-|\n${rows}`), 3, `${head}: the head and both rows`);
  assert.equal(lostIn(DOSES, `${DOSES.replace('Minimum', '**Minimum**')}| C | 2 | 3 |\n`), 0);
  const [a = '', b = ''] = rows.split('\n');
  assert.equal(lostIn(DOSES, DOSES.replace(rows, `${b}\n${a}\n`)), 0, 'rows in another order');
  const other = DOSES.replace('Minimum', 'Lowest').replace('Maximum', 'Highest');
  assert.equal(
    lostIn(`${DOSES}\nThen\n\n${other}`, `${other}\nThen\n\n${DOSES}`),
    0,
    'two tables exchanged as a whole',
  );
});

test('heads that span rows or columns, and rows that divide a table, apply to all cells below', () => {
  const table = (one: string, two: string, group: string) =>
    `<table><thead><tr><th rowspan="2">Drug</th><th colspan="2">${one}</th></tr><tr><th>${two}</th><th>Max</th></tr></thead>` +
    `<tbody><tr><th>A</th><td>1</td><td>2</td></tr><tr><th colspan="3">${group}</th></tr><tr><th>B</th><td>3</td><td>4</td></tr></tbody></table>`;
  const before = table('Adults', 'Min', 'Old');
  assert.equal(lostIn(before, before), 0);
  assert.equal(lostIn(before, table('Children', 'Min', 'Old')), 3, 'the head and both rows');
  assert.equal(lostIn(before, table('Adults', 'Mean', 'Old')), 3);
  assert.equal(lostIn(before, table('Adults', 'Min', 'New')), 2, 'the division and the row below it');
});

test('the text of a note is part of the sentence that refers to it, and its number is not', () => {
  const note = 'Take 10 mg.[^n] Then wait.[^ü]\n\nElse 5.\n\n[^n]: For adults.\n[^ü]: An hour.\n[^z]: In vain.\n';
  for (const [from, to, lost, why] of [
    ['10 mg.[^n]', '10 mg.', 2, 'a mark taken off, whose note is not shown any more'],
    ['For adults', 'For nobody', 2, 'another note'],
    ['An hour', '~~An hour~~', 2, 'a note that is struck out'],
    ['wait.[^ü]', 'wait.[^n]', 2, 'a mark that leads to another note'],
    ['Else 5.', 'Else 5.[^f]\n\n[^f]: This is false.', 1, 'a note added'],
    ['Take 10', 'New.[^f]\n\n[^f]: Also.\n\nTake 10', 0, 'another number'],
    [/\[\^n\]/g, '[^m]', 0, 'another label'],
  ] as const) {
    const after = note.replace(from, to);
    assert.notEqual(after, note);
    assert.equal(lostIn(note, after), lost, why);
  }
});

test('the forms of blocks shorten long heads and notes', () => {
  const words = 'maximum '.repeat(5_000);
  const { blocks } = renderMarkdown(
    `| ${words} |\n|-|\n${'| 1 |\n'.repeat(100)}\n${'See.[^a]\n\n'.repeat(100)}[^a]: ${words}`,
  );
  assert.ok(blocks.reduce((sum, { form }) => sum + form.length, 0) < 3 * words.length);
  assert.equal(lostIn(`| ${words}a |\n|-|\n| 1 |`, `| ${words}b |\n|-|\n| 1 |`), 2);
});

test('forms without heads and notes, from earlier releases, stay valid', () => {
  const markdown = `${DOSES}\nTake 10 mg.[^n] Then $x^2$.\n\n[^n]: For adults.\n`;
  const { text, blocks, html } = renderMarkdown(markdown);
  const compiled = blocks.map(({ start, end, form }) => ({
    quote: text.slice(start, end),
    form_sha256: hash('sha256', form.replace(/\ufdd1\ufdda.*?\ufddb\ufdd3|\ufdda.*?\ufddb/g, '')),
    form_kind: 'alone' as const,
    context: '',
    targets: undefined,
  }));
  assert.equal(
    compiled[1]?.form_sha256,
    hash('sha256', '\ufdd4A \ufdd41 mg \ufdd48 mg'.replaceAll(' \ufdd4', '\ufdd4 ')),
  );
  const shown = (page: string) => compareBlocks(compiled, readShownPage(page)).map((each) => each.shown);
  assert.deepEqual(new Set(shown(html)), new Set(['unchanged']));
  assert.ok(shown(html.replace('1 mg', '2 mg')).includes('edited'));
});

test('changed words are named, or the whole block if no word differs', () => {
  const changed = (before: string, after: string) => {
    const compiled = compiledOf(before);
    const shown = compareBlocks(compiled, readShownPage(renderMarkdown(after).html));
    return shown.flatMap(({ shown, block }, i) =>
      shown === 'edited' && block
        ? changesOf(compiled[i]?.quote ?? '', block, { characters: 10_000 }).map(({ kind, text }) => `${kind}: ${text}`)
        : [],
    );
  };
  assert.deepEqual(changed('A\n\nPress the red button.\n\nB', 'A\n\nDo not press the red button.\n\nB'), [
    'removed: Press',
    'added: Do',
    'same:  ',
    'added: not press ',
    'same: the red button.',
  ]);
  assert.deepEqual(changed('It costs 10 euros today.', 'It costs 10 ~~euros~~ today.'), [
    'same: It costs 10 ',
    'removed: euros ',
    'same: today.',
  ]);
  assert.deepEqual(changed('It is 10<sup>6</sup> or more', 'It is 106 or more'), [
    'removed: It is 106 or more',
    'added: It is 106 or more',
  ]);
});

test('reading the HTML of a page returns the blocks it was rendered from', () => {
  for (const markdown of pages()) {
    const { html, text, blocks } = renderMarkdown(markdown);
    const read = readPageText(parseShownHtml(html));
    assert.equal(read.text, text.trimEnd());
    const placed = (all: typeof blocks) =>
      all.map(({ start, element, form, context, targets }) => ({ start, element, form, context, targets }));
    assert.deepEqual(placed(read.blocks), placed(blocks));
  }
});

test('the time to read HTML is linear in its length, even for malformed input', () => {
  for (const piece of ['<', '<a title="', '<p>', '</p>', '<b x=', "<i '>", '&#x', '<del>a']) {
    const cpuOf = (times: number) => {
      const html = piece.repeat(times);
      const before = process.cpuUsage();
      readShownPage(html);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    cpuOf(5_000);
    // Take the shortest of three measurements, to exclude garbage collection.
    const shortest = (times: number) => Math.min(...[1, 2, 3].map(() => cpuOf(times)));
    const [short, long] = [shortest(5_000), shortest(80_000)];
    // Quadratic time would be 256 times as long. A long text alone fills the heap, which costs up to ten times as much.
    assert.ok(long < 160 * short, `${piece}: ${short} µs, then ${long} µs for 16 times as much`);
  }
});

test('blocks compiled before forms were stored are compared by their words', () => {
  const old = (markdown: string) =>
    compiledOf(markdown).map(({ quote }) => ({
      quote,
      form_sha256: '',
      form_kind: 'words' as const,
      context: '',
      targets: undefined,
    }));
  const lost = (after: string) =>
    compareBlocks(old(OWN.replace(/\nIt weighs.*\n/, '')), readShownPage(renderMarkdown(after).html)).filter(
      ({ shown }) => shown !== 'unchanged',
    ).length;
  assert.equal(lost(OWN), 0);
  assert.equal(lost(OWN.replace('10 minutes', '100 minutes')), 1);
  assert.equal(lost(OWN.replace('10 minutes', '~~10~~ minutes')), 1);
});

test('forms from before notes were included stay valid, wherever the mark of a note is', () => {
  const notes = '\n\n[^1]: A note of it.\n\n[^2]: Another one.\n';
  const formsOf = (markdown: string) =>
    readShownPage(renderMarkdown(markdown).html).blocks.map(({ form }) => withoutBeside(form));
  for (const [markdown, before] of [
    ['a[^1] b', 'a b'],
    ['a [^1] b', 'a b'],
    ['a [^1]', 'a'],
    ['[^1] b', 'b'],
    ['*a*[^1].[^2]', '*a*.'],
    ['Ouch<sup>[^1]</sup>.', 'Ouch.'],
    ['x <sup>[^1]</sup> y', 'x y'],
    ['~~[^1]~~ z', 'z'],
    ['| h |\n|-|\n| a[^1] |', '| h |\n|-|\n| a |'],
    ['- [x] a[^1]', '- [x] a'],
    ['a[^1]\nb', 'a\nb'],
  ] as const) {
    const forms = formsOf(before);
    assert.deepEqual(formsOf(markdown + notes).slice(0, forms.length), forms, markdown);
  }
});
