import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlToMarkdown } from '@ibid/documents/formats/html/html.ts';
import { plainPage, renderMarkdown } from '@ibid/markdown/render.ts';
import fc from 'fast-check';
import { cleanUp } from '../../../test/clean-up.ts';
import { EVERYTHING, extent, longTest } from '../../../test/extent.ts';
import { markdownTexts } from '../../../test/fuzz/markdown-texts.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';

const SIZE = 20_000;

function repeated(piece: string, size = SIZE): string {
  return piece.repeat(Math.ceil(size / piece.length));
}

function lines(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => line(i)).join('\n');
}

/** Texts that take quadratic time in some step of Markdown parsing, or whose output explodes. */
const HOSTILE: Record<string, string> = {
  'deep quotes': `${repeated('> ')}x`,
  'deep lists': lines(400, (i) => `${' '.repeat(2 * i)}- x`),
  'numbered lists in lists': repeated('1. '),
  'lists in quotes': `${repeated('> - ', 400)}x\n${repeated('> x\n')}`,
  'lines that continue a quote': `> ${repeated('x\n')}`,
  'a flat list': repeated('- x\n'),
  brackets: repeated('['),
  'brackets that close': repeated('[') + repeated(']'),
  'links in links': `${repeated('[', SIZE / 4)}a${repeated('](b)')}`,
  'titles that do not end': repeated('[a](b "'),
  'addresses that do not end': repeated('[a](<b'),
  'pictures of pictures': repeated('![[]()'),
  emphasis: repeated('*a **a ') + repeated('b** b*'),
  'emphasis that does not end': repeated('*a _b '),
  'strong that touches': repeated('**a'),
  strikethrough: repeated('~~a'),
  backticks: lines(280, (i) => '`'.repeat(i + 1)),
  'references that expand': `[a]: https://x.example/${'y'.repeat(10_000)}\n\n${repeated('[a] ')}`,
  'a long label': `[${repeated('a\\]')}]: x`,
  'definitions and their references': `${lines(2_000, (i) => `[a${i}]: x`)}\n\n${lines(2_000, (i) => `[a${i}]`)}`,
  'a wide table': `|${repeated('a|', SIZE / 2)}\n|${repeated('-|', SIZE / 2)}\n`,
  'a long table': `|a|b|\n|-|-|\n${repeated('|x|y|\n')}`,
  'a table of short rows': `|${'a|'.repeat(1_000)}\n|${'-|'.repeat(1_000)}\n${'x\n'.repeat(1_000)}`,
  'rows without a table': repeated('a|b\n'),
  footnotes: lines(2_000, (i) => `[^${i}]: x[^${i + 1}]\n`),
  'references to one footnote': `${repeated('[^a] ')}\n\n[^a]: x`,
  'footnotes in footnotes': repeated('[^a]: '),
  'a huge line': repeated('a'),
  'a huge line of words': repeated('lorem ipsum '),
  spaces: `a${repeated(' ')}b`,
  'tags that do not end': repeated('<a href="'),
  comments: repeated('<!--'),
  'HTML in HTML': repeated('<div>'),
  'links of HTML': repeated('<a>'),
  'table cells of HTML': repeated('<table><tr><td>'),
  'addresses with parentheses': `http://x.example/${repeated(')')}`,
  'addresses of mail': repeated('a@b.c'),
  'names before an @': `${repeated('a-')}@`,
  'dollar signs': repeated('$'),
  'mathematics that does not end': repeated('$a '),
  'display mathematics that does not end': repeated('$$a $b '),
  'blocks of mathematics': repeated('$$\n'),
  'wiki links that do not end': repeated('[[a'),
  'wiki links of half an end': repeated('[[a]'),
  'wiki links with bars': repeated('[[a|'),
  'a long wiki link': `[[${repeated('a')}]]`,
  'code that its grammar is slow to read': repeated(`\`\`\`cpp\n${'a'.repeat(9_900)}\n\`\`\`\n`),
  'code of long lines': repeated(`\`\`\`ini\n${'a'.repeat(9_900)}\n\`\`\`\n`),
  'headings of one name': repeated('# x\n\n'),
};

/** Texts that exceed their limits on any machine. */
const OFTEN_PLAIN = ['deep quotes', 'brackets that close', 'links in links'];

const pool = openSandbox({ renderMs: 100 });
cleanUp(() => pool.close());
const sandbox = pool.of('');

test('a hostile text is rendered within its limit or shown as plain text, and later pages are rendered', async (t) => {
  // Try every eighth of the other texts, unless the run is a full one.
  const tried = Object.entries(HOSTILE).filter(([name], i) => EVERYTHING || OFTEN_PLAIN.includes(name) || i % 8 === 0);
  const plain: string[] = [];
  let slowest = { name: '', ms: 0 };
  for (const [name, markdown] of tried) {
    const started = performance.now();
    const page = await sandbox.render({ wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map() });
    const ms = Math.round(performance.now() - started);
    if (ms > slowest.ms) slowest = { name, ms };
    assert.ok(page.plain_reason !== 'failed', `${name} must not cause an internal error`);
    if (page.plain_reason === '') continue;
    plain.push(`${name} (${page.plain_reason})`);
    assert.deepEqual(page, plainPage(markdown, page.plain_reason), name);
    const next = await sandbox.render({ wiki_id: '', markdown: '# Next', page_path: 'x', pagesByTarget: new Map() });
    assert.deepEqual([next.plain_reason, next.title], ['', 'Next'], `the page after ${name}`);
  }
  t.diagnostic(`${tried.length} texts, ${plain.length} shown as plain text: ${plain.join(', ')}`);
  t.diagnostic(`the slowest of them, ${slowest.name}, took ${slowest.ms} ms with its bound at 100 ms of computing`);
  assert.ok(plain.length > extent(5, 0), 'some texts must exceed their limits, or nothing was tested');
});

longTest('the time limit grows with the length of a text, and other load on the machine does not count', async () => {
  const markdown = repeated(`A *word*, ${'words '.repeat(20)}.\n\n`, 400_000);
  /** Why the text is shown as plain text in a sandbox with this limit, and how long that took. */
  const within = async (renderMs: number) => {
    const sandbox = openSandbox({ renderMs });
    try {
      const started = performance.now();
      const page = await sandbox.of('').render({ wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map() });
      return { reason: page.plain_reason, ms: performance.now() - started };
    } finally {
      await sandbox.close();
    }
  };
  const ample = await within(60_000);
  assert.equal(ample.reason, '');
  // Half of the measured time suffices, because a text of this length has four times the limit.
  const { reason } = await within(ample.ms / 2);
  assert.equal(reason, '');
  const brief = openSandbox({ renderMs: 1 });
  try {
    const page = await brief.of('').render({
      wiki_id: '',
      markdown: repeated('[a](b "'),
      page_path: 'x',
      pagesByTarget: new Map(),
    });
    assert.equal(page.plain_reason, 'too_slow');
  } finally {
    await brief.close();
  }
});

test('an internal error in rendering a page is reported, and the page is shown as plain text', async () => {
  const faults: Error[] = [];
  const watched = openSandbox({ onError: (error) => faults.push(error) });
  try {
    const markdown = '# Title\n\n[[x]]';
    const page = await watched.of('').render({
      wiki_id: '',
      markdown,
      page_path: undefined as unknown as string,
      pagesByTarget: new Map(),
    });
    assert.deepEqual(page, plainPage(markdown, 'failed'));
    assert.equal(faults.length, 1);
  } finally {
    await watched.close();
  }
});

/** HOSTILE_TEXTS sets the number of generated texts, HOSTILE_SEED the seed. */
const TEXTS = Number(process.env.HOSTILE_TEXTS || extent(150, 20));
const TEXTS_SEED = Number(process.env.HOSTILE_SEED || 20_261_122);

test('generated texts become pages or plain text, with a bounded number of processes and no internal error', async (t) => {
  const faults: Error[] = [];
  const bounded = openSandbox({ renderMs: 200, onError: (error) => faults.push(error) });
  const reasons = new Map<string, number>();
  let processes = 0;
  try {
    const texts = fc.sample(markdownTexts, { numRuns: TEXTS, seed: TEXTS_SEED });
    for (const markdown of texts) {
      const page = await bounded.of('').render({ wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map() });
      reasons.set(page.plain_reason, (reasons.get(page.plain_reason) ?? 0) + 1);
      processes = Math.max(processes, process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length);
      assert.ok(page.html !== '' || markdown.trim() === '' || page.plain_reason === '', JSON.stringify(markdown));
    }
    t.diagnostic(`${texts.length} texts: ${JSON.stringify([...reasons])}`);
    assert.deepEqual(faults, []);
    assert.ok(processes <= 2, `${processes} processes`);
  } finally {
    await bounded.close();
  }
});

longTest(
  'a text that exhausts the memory of its rendering process ends the process and is shown as plain text',
  async () => {
    const usual = openSandbox();
    try {
      const markdown = '![['.repeat(520_000);
      const page = await usual.of('').render({ wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map() });
      assert.ok(page.text === markdown || page.plain_reason === '', page.plain_reason);
      const next = await usual
        .of('')
        .render({ wiki_id: '', markdown: '# Next', page_path: 'x', pagesByTarget: new Map() });
      assert.deepEqual([next.plain_reason, next.title], ['', 'Next']);
    } finally {
      await usual.close();
    }
  },
);

/** Places in Markdown and HTML, marked by `_`, where a run of spaces is inserted. */
const SPACED = [
  'a_b',
  '# a_b',
  '# a_{#b',
  '![a](b "x_y")',
  '![a](b_=1x1)',
  ':::note a_b:',
  ':::note\nx\n:::_b',
  '{% hint_x %}',
  '{% a %}_b{% x',
  '{{< a_b',
  '=== "a"_b',
  '!!! note_b',
  'import_x',
  'T\n:_a_b',
  '- [ ]_a_b',
  '> [!note]_a_b',
  '[[a_b]]',
  '|a|\n|-|\n|a_b|',
  '---\na: b_c\n---\n',
  '<p title="a_b">',
  '%%_a',
  '{:_.a',
];
const SPACED_HTML = [
  '<p>a_b',
  '<p><b>a_b</b>_c',
  '<ul><li>a_b</ul>',
  '<pre>a_b</pre>',
  '<table><tr><td>a_b<td><pre>a_b</pre></table>',
];

test('a run of spaces costs about as much as the same number of letters, in any place', () => {
  const readers = [
    ...SPACED.map((text) => [text, renderMarkdown] as const),
    ...SPACED_HTML.map((text) => [text, (html: string) => htmlToMarkdown(html, { pictureAt: () => '' })] as const),
  ];
  for (const [text, read] of readers) {
    const costOf = (letter: string) => {
      const { user } = process.cpuUsage();
      read(text.replaceAll('_', letter.repeat(50_000)));
      return process.cpuUsage().user - user;
    };
    const [letters, spaces] = [Math.min(costOf('x'), costOf('x')), Math.min(costOf(' '), costOf(' '))];
    assert.ok(spaces < 20 * (letters + 10_000), `${text}: ${spaces} microseconds, and with letters ${letters}`);
  }
});
