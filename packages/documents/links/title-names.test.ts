import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksOf } from '@ibid/markdown/page-links.ts';
import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import { renderTree } from '@ibid/markdown/render.ts';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { editText } from './edit-text.ts';
import { linkTitles } from './title-links.ts';
import { isName, mentionsIn, titleNames } from './title-names.ts';

const PAGE = 'docs/here';

function namesOf(titles: Record<string, string>) {
  return titleNames(Object.entries(titles).map(([title, path]) => ({ title, path, is_filename: false })));
}

/** Links a text, and asserts that its links equal the links of the changed tree. */
function linked(markdown: string, names: ReturnType<typeof namesOf>): string {
  const tree = parseMarkdown(markdown);
  const before = renderTree(parseMarkdown(markdown));
  const { edits, paths } = linkTitles(markdown, tree, { page_path: PAGE, linked: [PAGE], room: 10_000 }, names);
  const result = editText(markdown, tree, edits);
  const again = parseMarkdown(result);
  assert.deepEqual(
    linksOf(tree, result, PAGE),
    linksOf(again, result, PAGE),
    `${result} must have its links in their places`,
  );
  const rendered = renderTree(tree);
  assert.equal(rendered.html, renderTree(again).html, `${JSON.stringify(result)} must be what the tree says`);
  const wordsOf = ({ text, blocks }: typeof rendered) => [text, blocks.map(({ targets, ...block }) => block)];
  assert.deepEqual(wordsOf(rendered), wordsOf(before), 'what it says must stay');
  assert.equal(paths.length, edits.length);
  return result;
}

const TITLES = {
  'Data Processing Agreement': 'legal/dpa',
  'Data Processing': 'data',
  PostgreSQL: 'tools/postgresql',
  'git-commit': 'docs/git-commit',
  'R&D Laboratory': 'r-d-lab',
  snake_case_name: 'snake',
  'Access Policy (EMEA)': 'access',
  'Who pays what?': 'who',
  'Release notes': 'release-notes',
  数据处理协议书: 'dpa-zh',
};

test('a title is linked once, at its first separate mention, and the longest title wins', () => {
  const names = namesOf(TITLES);
  const expected: [string, string][] = [
    ['The Data Processing Agreement.', 'The [Data Processing Agreement](../legal/dpa).'],
    ['Data Processing and PostgreSQL’s', '[Data Processing](../data) and [PostgreSQL](../tools/postgresql)’s'],
    ['PostgreSQL, PostgreSQL', '[PostgreSQL](../tools/postgresql), PostgreSQL'],
    ['the release notes', 'the [release notes](../release-notes)'],
    ['run git-commit now', 'run [git-commit](git-commit) now'],
    ['our R\\&D Laboratory', 'our [R\\&D Laboratory](../r-d-lab)'],
    ['our R&amp;D Laboratory', 'our [R&amp;D Laboratory](../r-d-lab)'],
    ['a snake_case_name', 'a [snake_case_name](../snake)'],
    ['see Access Policy (EMEA)!', 'see [Access Policy (EMEA)](../access)!'],
    ['Who pays what? Nobody', '[Who pays what?](../who) Nobody'],
    ['根据数据处理协议书的规定', '根据[数据处理协议书](../dpa-zh)的规定'],
    ['**Data Processing Agreement**: x', '**[Data Processing Agreement](../legal/dpa)**: x'],
    ['- Data  Processing\n  Agreement', '- [Data  Processing\n  Agreement](../legal/dpa)'],
    ['> Data Processing\n> Agreement x', '> [Data Processing\n> Agreement](../legal/dpa) x'],
    [
      '| PostgreSQL | a \\| R&D Laboratory |\n| - | - |\n',
      '| [PostgreSQL](../tools/postgresql) | a \\| [R&D Laboratory](../r-d-lab) |\n| - | - |\n',
    ],
    ['a[^1]\n\n[^1]: PostgreSQL', 'a[^1]\n\n[^1]: [PostgreSQL](../tools/postgresql)'],
  ];
  for (const [before, after] of expected) assert.equal(linked(before, names), after);
});

test('titles inside other words, and in places that are not text, are not linked', () => {
  const names = namesOf(TITLES);
  const stay = [
    '# PostgreSQL',
    'PostgreSQL\n===',
    '[PostgreSQL](https://x.example) [PostgreSQL][r]\n\n[r]: https://x.example "PostgreSQL"',
    '`PostgreSQL` $PostgreSQL$ ![PostgreSQL](x.png) [[PostgreSQL]]',
    '    PostgreSQL\n\n```PostgreSQL\nPostgreSQL\n```\n\n$$\nPostgreSQL\n$$',
    '<b>PostgreSQL</b> <a href="x">PostgreSQL</a>\n\n<div>\nPostgreSQL\n</div>\n\n<!-- PostgreSQL -->',
    'PostgreSQL-based xPostgreSQL PostgreSQLx postgresql.org/PostgreSQL PostgreSQL.x PostgreSQL+ @PostgreSQL #PostgreSQL a/PostgreSQL',
    'https://PostgreSQL www.PostgreSQL.example PostgreSQL@x.example',
    'postgresql POSTGRESQL git-commit-tree my-git-commit Release Notes access policy Access Policy (Emea)',
    'snake_case_name_2 Data\\-Processing Data, Processing Data *Processing* Agreement',
    '\\PostgreSQL !PostgreSQL a*PostgreSQL*b PostgreSQL*x* \\[PostgreSQL]',
    'Data\n\nProcessing',
  ];
  for (const markdown of stay) assert.equal(linked(markdown, names), markdown);
});

test('a document with line breaks in cells, raised and lowered words and anchors has its titles linked', () => {
  const names = namesOf(TITLES);
  const expected: [string, string][] = [
    ['H<sub>2</sub>O and PostgreSQL', 'H<sub>2</sub>O and [PostgreSQL](../tools/postgresql)'],
    ['10<sup>3</sup> <u>old</u> Release notes', '10<sup>3</sup> <u>old</u> [Release notes](../release-notes)'],
    ['| a<br>b | PostgreSQL |\n| - | - |\n', '| a<br>b | [PostgreSQL](../tools/postgresql) |\n| - | - |\n'],
    ['<a id="place-1"></a>PostgreSQL', '<a id="place-1"></a>[PostgreSQL](../tools/postgresql)'],
    ['<a id="x">PostgreSQL</a>, PostgreSQL', '<a id="x">PostgreSQL</a>, [PostgreSQL](../tools/postgresql)'],
  ];
  for (const [before, after] of expected) assert.equal(linked(before, names), after);
});

test('existing links, the page itself and shorter titles inside them are not linked', () => {
  const names = namesOf({ ...TITLES, 'Data Processing': PAGE });
  assert.equal(linked('Data Processing', names), 'Data Processing');
  const tree = parseMarkdown('Data Processing Agreement');
  const { edits } = linkTitles(
    'Data Processing Agreement',
    tree,
    { page_path: PAGE, linked: ['legal/dpa'], room: 1e4 },
    namesOf(TITLES),
  );
  assert.deepEqual(edits, []);
});

test('a title of two pages is not linked', () => {
  const names = titleNames([
    { title: 'Annual Report', path: 'a', is_filename: false },
    { title: 'annual Report', path: 'b', is_filename: false },
    { title: 'Annual Report 2024', path: 'c', is_filename: false },
    { title: 'annual report 2024', path: 'c', is_filename: true },
  ]);
  assert.deepEqual(mentionsIn('Annual Report, Annual Report 2024', names), [
    { start: 0, end: 13, path: '' },
    { start: 15, end: 33, path: 'c' },
  ]);
});

test('a lower-case file name matches the capitalized name in texts', () => {
  const names = titleNames([{ title: 'data processing agreement', path: 'dpa', is_filename: true }]);
  for (const text of ['Data Processing Agreement', 'data processing agreement', 'DATA PROCESSING AGREEMENT']) {
    assert.deepEqual(mentionsIn(text, names), [{ start: 0, end: text.length, path: 'dpa' }]);
  }
});

test('titles are linked, and single common words are not', () => {
  const names = [
    'Data Processing Agreement',
    'Release notes',
    'PostgreSQL',
    'OAuth2',
    'git-commit',
    'iPhone',
    'snake_case',
    'HTTPServer',
    '数据处理协议',
    'ソフトウェア使用許諾',
  ];
  for (const title of names) assert.ok(isName(title), title);
  const words = [
    'Install',
    'Notes',
    'README',
    'LICENSE',
    'Q & A',
    'IPv6',
    'To do',
    '2024 2025',
    '数据处理',
    '',
    'x'.repeat(9),
    `${'Long title '.repeat(12)}`,
    '`code` of conduct',
    'a](javascript:alert(1)',
    '*Data Processing*',
    '(Data Processing)',
    'Costs $5 and more',
    'see [Data Processing]',
    '<b>Data Processing</b>',
    '_Data Processing_',
  ];
  for (const title of words) assert.ok(!isName(title), title);
});

test('hostile texts and titles are linked without an error, and consistently with their trees', () => {
  const words = [
    'PostgreSQL',
    'Data',
    'Processing',
    'Agreement',
    'snake_case_name',
    'R&D Laboratory',
    'R\\&D',
    'R&amp;D',
    'a',
    '数据处理协议书',
    '数',
    'é',
    'e\u0301',
  ];
  const marks =
    '[ ] ( ) < > [x]( ![ * ** _ __ ~ ~~ ` `` $ $$ \\ # ? & &#x20; &amp; " \' | - + > * : // ! ^ [^1] [^1]: {'.split(
      ' ',
    );
  const pieces = fc.constantFrom(
    ...words,
    ...words,
    ...marks,
    ' ',
    ' ',
    ' ',
    '\n',
    '\n\n',
    '\n> ',
    '\n- ',
    '    ',
    '| a | b |\n|-|-|\n| ',
    '😀',
    '\u00a0',
    '  \n',
    '---',
  );
  const text = fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join(''));
  const titles = fc.dictionary(text, fc.constantFrom('a', 'docs/b', 'legal/dpa', PAGE), { maxKeys: 4 });
  fc.assert(
    fc.property(text, titles, (markdown, more) => {
      linked(markdown, namesOf({ ...TITLES, ...more }));
    }),
    { numRuns: Number(process.env.TITLE_RUNS || extent(1_000, 200)) },
  );
});
