import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { extent } from '../../test/extent.ts';
import { parseMarkdown } from './parse-markdown.ts';

const SYNTAX_RUNS = process.env.SYNTAX_RUNS ?? extent(1_500, 250);

const plain = unified().use(remarkParse).use(remarkGfm, { singleTilde: false }).freeze();

/** Parts of addresses, tables, footnotes, tasks and deletions, text around them, and markup that indents a line. */
const PIECES = (
  'a Ab1 me@x.org a.b-c+d_e@x-y.example.com @ . - + _ mailto: xmpp: http://a.b www.x.y Www. HTTPS://c.d https://u@h.org/p [ ]( ) ![ * ** ` ~~ < > | é 漢字 😀 ' +
  '\\ & &#64; &#46; www&#46;x.y https:&#47;/x.y / : [^ [^a] [^a]: [x] [\\ ] ~ ~~a~~ | |a|b| |-|-| :- -: --- \\|'
).split(' ');
const SPACES = [
  ' ',
  '  ',
  '\t',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\n> ',
  '\n>',
  '\n- ',
  '\n- [ ] ',
  '\n- [x] ',
  '\n1. ',
  '\n\t',
  '\n  ',
  '\n    ',
  '\n> > ',
  '\n|-|\n',
  '\n-|-\n',
  '\n  :-\n',
  '\n> |-|\n',
  '\n# ',
  '\n[^a]: ',
  '\0',
];

/**
 * Removes the positions of addresses, which only our parser has, and the ends of texts that end with a line: in a list,
 * such a text includes the indentation of the next line if some construct was tried across the line end.
 */
function shape(tree: unknown): unknown {
  return JSON.parse(
    JSON.stringify(tree, (key, value) => {
      if (key === 'data') return undefined;
      const endsLine = value?.type === 'break' || (value?.type === 'text' && /[\r\n]$/.test(value.value));
      return endsLine && value.position ? { ...value, position: { start: value.position.start } } : value;
    }),
  );
}

/** Syntax of our parser alone: wiki links, formulas, unknown tags, front matter, emphasis next to a Chinese letter. */
const OURS = /\[\[|\\[[(]|<[a-z]|^---|[*_]漢|字[*_]/i;

test('an address of mail after a Chinese word is read where it stands, although an underscore may end emphasis there', () => {
  const text = '漢字_me@x.org';
  assert.deepEqual(shape(parseMarkdown(text)), shape(plain.parse(text)));
});

test("a text is parsed as with all of GitHub's syntax, although only the constructs it may contain are tried, where they may begin", () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), fc.constantFrom(...SPACES)), {
      maxLength: 30,
    })
    .map((pieces) => pieces.join(''))
    .filter((markdown) => !OURS.test(markdown));
  fc.assert(
    fc.property(text, (markdown) => {
      assert.deepEqual(shape(parseMarkdown(markdown)), shape(plain.parse(markdown)));
    }),
    { numRuns: Number(SYNTAX_RUNS) },
  );
  const links = JSON.stringify(parseMarkdown('Write to me@example.com.\n\n> - or to you@example.com\n'));
  assert.deepEqual(links.match(/mailto:\w+/g), ['mailto:me', 'mailto:you']);
});
