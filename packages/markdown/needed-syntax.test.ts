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

/** Removes the positions of addresses, which only our parser has. */
function shape(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value) => (key === 'data' ? undefined : value)));
}

test("a text is parsed as with all of GitHub's syntax, although only the constructs it may contain are tried, where they may begin", () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), fc.constantFrom(...SPACES)), {
      maxLength: 30,
    })
    .map((pieces) => pieces.join(''))
    .filter((markdown) => !markdown.includes('[[') && !markdown.startsWith('---'));
  fc.assert(
    fc.property(text, (markdown) => {
      assert.deepEqual(shape(parseMarkdown(markdown)), shape(plain.parse(markdown)));
    }),
    { numRuns: Number(SYNTAX_RUNS) },
  );
  const links = JSON.stringify(parseMarkdown('Write to me@example.com.\n\n> - or to you@example.com\n'));
  assert.deepEqual(links.match(/mailto:\w+/g), ['mailto:me', 'mailto:you']);
});
