import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { parseMarkdown } from './parse-markdown.ts';

const { EMAIL_RUNS = '1000' } = process.env;

const plain = unified().use(remarkParse).use(remarkGfm).freeze();

/** Parts of addresses, text around them, and markup that indents a line. */
const PIECES = (
  'a Ab1 me@x.org a.b-c+d_e@x-y.example.com @ . - + _ mailto: xmpp: http://a.b www.x.y https://u@h.org/p [ ]( ) ![ * ** ` ~~ < > | é 漢字 😀 ' +
  '\\ & &#64; / : '
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
  '\n- ',
  '\n1. ',
  '\n\t',
  '\n    ',
  '\n> > ',
  '\n|-|\n',
  '\n# ',
];

/** The tree without positions of addresses, which only our parser has. */
function shape(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value) => (key === 'data' ? undefined : value)));
}

test('addresses are found where GitHub finds them, though only lines with an @ are searched', () => {
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
    { numRuns: Number(EMAIL_RUNS) },
  );
  const links = JSON.stringify(parseMarkdown('Write to me@example.com.\n\n> - or to you@example.com\n'));
  assert.deepEqual(links.match(/mailto:\w+/g), ['mailto:me', 'mailto:you']);
});
