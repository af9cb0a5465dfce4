import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { longTest } from '../../test/extent.ts';
import { hasCostlyParagraph } from './parse-cost.ts';
import { renderPage } from './render.ts';

const SIZE = 1_500_000;
const repeated = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length));
const ladder = (mark: string) => {
  let text = '';
  for (let i = 1; text.length < SIZE; i += 1) text += `${mark.repeat(i)}a`;
  return text;
};

/**
 * Texts for which micromark takes quadratic time within one paragraph. Four times as many of them (from 40,000
 * characters) took 8 to 18 times as long, or did not finish in 8 s of CPU time.
 */
const QUADRATIC: Record<string, string> = {
  'closing brackets': repeated(']'),
  'brackets that close': `${repeated('[')}${repeated(']')}`,
  'brackets with a word': repeated('[a]'),
  'wiki links of half an end': repeated('[[a]'),
  'links in links': `${repeated('[')}a${repeated('](b)')}`,
  'titles that do not end': repeated('[a](b "'),
  'titles in parentheses that do not end': repeated('[a](b ('),
  'addresses that do not end': repeated('[a](<b'),
  'references without a definition': repeated('[a][b]'),
  'references to footnotes without a text': repeated('[^a]'),
  'emphasis that only begins': repeated('*a'),
  'emphasis that only ends': repeated('a*'),
  'emphasis of two kinds': repeated('*a_'),
  'long runs of emphasis': `${repeated('*')}a${repeated('*')}`,
  'strong that touches': repeated('**a'),
  'tags that do not end': repeated('<a href="'),
  'comments that do not end': repeated('a <!-- '),
  'a ladder of backticks': ladder('`'),
  'a ladder of dollar signs': ladder('$'),
};

test('a text for which the parser takes quadratic time is shown as plain text, before it is parsed', () => {
  for (const [name, markdown] of Object.entries(QUADRATIC)) {
    assert.ok(hasCostlyParagraph(markdown), name);
    const short = markdown.slice(0, 2_000);
    assert.ok(!hasCostlyParagraph(short), `${name}, when it is short`);
  }
  const markdown = repeated(']');
  const page = renderPage({ wiki_id: '', markdown, page_path: 'x', pagesByTarget: new Map() });
  assert.deepEqual([page.plain_reason, page.text], ['too_complex', markdown]);
});

test('a text that parses in linear time is not refused, however long it is', () => {
  const LINEAR: Record<string, string> = {
    'opening brackets': repeated('['),
    'pictures of wiki links that do not end': repeated('![['),
    prose: repeated('A *word*, a `word` and [a link](b).\n\n'),
    'a list of links': repeated('- [a](b) *c*\n'),
    'a table of links': `|a|b|\n|-|-|\n${repeated('|[a](b)|*c*|\n')}`,
    definitions: repeated('[a_b]: http://x.example/a_b_c\n'),
    'code with brackets': `\`\`\`js\n${repeated('a[b[c]] = d * e;\n')}`,
    'indented code with brackets': repeated('    a[b[c]] = d * e;\n'),
    words: repeated('lorem ipsum '),
  };
  for (const [name, markdown] of Object.entries(LINEAR)) assert.ok(!hasCostlyParagraph(markdown), name);
});

longTest(
  'no real text is refused: the specification, its examples, and every Markdown file of the packages and collections',
  (t) => {
    const { text, tests } = createRequire(import.meta.url)('commonmark-spec') as {
      text: string;
      tests: { markdown: string }[];
    };
    for (const markdown of [text, ...tests.map((each) => each.markdown)]) assert.ok(!hasCostlyParagraph(markdown));
    const folders = ['node_modules/*', 'docs', '../shared/corpora'].map((folder) =>
      fileURLToPath(new URL(folder, PACKAGE)),
    );
    const files = folders
      .filter((folder) => folder.endsWith('*') || existsSync(folder))
      .flatMap((folder) => globSync(`${folder}/**/*.{md,txt}`));
    const refused = files.filter((file) => hasCostlyParagraph(readFileSync(file, 'utf8')));
    t.diagnostic(`${files.length} files`);
    assert.ok(files.length > 100);
    assert.deepEqual(refused, []);
  },
);
