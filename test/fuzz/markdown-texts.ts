import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { ATTACKS } from '../attacks.ts';
import { hostileText } from './hostile-values.ts';
import { MINUTES } from './run-cases.ts';

/** Size up to which a construct of the syntax is repeated. */
const BYTES_MAX = MINUTES > 0 ? 200_000 : 20_000;

const UNITS = [
  '![[',
  '[',
  '](',
  '[[',
  ']]',
  '![',
  '!',
  '*',
  '**',
  '_',
  '__',
  '*_',
  '`',
  '``',
  '~~',
  '<',
  '<a',
  '<!--',
  '<?',
  '<![CDATA[',
  '>',
  '> ',
  '>- ',
  '- ',
  '1. ',
  '+ ',
  '# ',
  '#',
  '|',
  '|-',
  '| a ',
  '\\',
  '&',
  '&amp',
  '&#',
  '\t',
  '    ',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '\0',
  '$',
  '$$',
  '[^',
  '[^a]',
  '[^a]: ',
  '[a]: ',
  '[a]: <',
  'a@',
  'www.',
  'http://',
  'https://a.b/',
  '---\n',
  '```\n',
  '~~~',
  ':',
  '{',
  '<div>',
  '</div>',
  '<svg>',
  '<table>',
  '<p',
  'x=',
  '"',
  "'",
  'a ',
  'é',
  '😀',
  '\u0300',
  '\u202e',
  '[x](',
  '[](',
  '<a href="',
  '[a][',
  '!["',
  '* *',
  '*a_',
  '- [ ] ',
  '\n> ',
  '\n- ',
  '\n\t',
  '\n1) ',
  '=\n',
  '|\n',
  '[[a|',
  '[[a#',
  '(',
  ')',
  '[a](b',
];

const unit = fc.constantFrom(...UNITS);

const repeated: fc.Arbitrary<string> = fc
  .tuple(fc.array(unit, { minLength: 1, maxLength: 3 }), fc.oneof(fc.nat(200), fc.nat(BYTES_MAX)), unit)
  .map(([parts, bytes, end]) => {
    const text = parts.join('');
    return text.repeat(Math.ceil(bytes / Buffer.byteLength(text))).slice(0, BYTES_MAX) + end;
  });

/** Delimiters of increasing length: `a `` b ``` c …`. */
const ladders: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('`', '*', '_', '~', '[', '>', '#', '$', '-', '='),
    fc.integer({ min: 2, max: 600 }),
    fc.constantFrom(' ', 'a', '\n', 'a\n'),
  )
  .map(([mark, steps, between]) =>
    Array.from({ length: steps }, (_, i) => mark.repeat(i + 1) + between)
      .join('')
      .slice(0, BYTES_MAX),
  );

/** Texts by the grammar of blocks and inlines, closed or not. */
const grammar = fc.letrec<{ inline: string; block: string }>((tie) => ({
  inline: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      'word',
      'two words',
      'https://x.example',
      'a@b.example',
      '&lt;',
      '\\*',
      '<br>',
      '<i>',
      '<!-- c -->',
      '[^1]',
      '[[Page]]',
      '![[a.png]]',
      '$x$',
      '`code`',
    ),
    tie('inline').map((text) => `*${text}*`),
    tie('inline').map((text) => `**${text}**`),
    tie('inline').map((text) => `[${text}](x "t")`),
    tie('inline').map((text) => `![${text}](<x y>)`),
    tie('inline').map((text) => `[${text}][ref]`),
    tie('inline').map((text) => `<a href="x">${text}`),
    tie('inline').map((text) => `~~${text}~~`),
    fc.tuple(tie('inline'), tie('inline')).map((pair) => pair.join(' ')),
    hostileText.map((text) => text.slice(0, 300)),
  ),
  block: fc.oneof(
    { maxDepth: 8 },
    tie('inline'),
    tie('inline').map((text) => `# ${text}`),
    tie('block').map((text) => quoted(text, '> ')),
    tie('block').map((text) => quoted(text, '    ', '1.  ')),
    tie('block').map((text) => quoted(text, '  ', '- ')),
    tie('inline').map((text) => `| ${text} | b |\n|---|:-:|\n| c | ${text} |`),
    tie('inline').map((text) => `\`\`\`js\n${text}\n\`\`\``),
    tie('inline').map((text) => `[ref]: <${text}> '${text}'`),
    tie('inline').map((text) => `[^1]: ${text}`),
    tie('inline').map((text) => `---\ntitle: ${text}\n---\n`),
    tie('block').map((text) => `<details>\n\n${text}\n\n</details>`),
    fc.array(tie('block'), { maxLength: 4 }).map((blocks) => blocks.join('\n\n')),
  ),
})).block;

function quoted(text: string, mark: string, first = mark): string {
  return first + text.replaceAll('\n', `\n${mark}`);
}

const CORPUS: string[] = [
  ...(createRequire(import.meta.url)('commonmark-spec') as { tests: { markdown: string }[] }).tests.map(
    ({ markdown }) => markdown,
  ),
  ...ATTACKS,
  ...['README.md', 'ARCHITECTURE.md', 'packages/markdown/README.md'].map((name) =>
    readFileSync(new URL(name, PACKAGE), 'utf8'),
  ),
];

/** Texts of the corpus with parts cut, repeated, replaced by parts of other texts, or interrupted by a construct. */
const mutated: fc.Arbitrary<string> = fc
  .record({
    text: fc.constantFrom(...CORPUS),
    edits: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(200),
        what: fc.oneof(
          fc.constant(''),
          unit,
          fc.tuple(unit, fc.nat(2_000)).map(([text, times]) => text.repeat(times)),
          fc.constantFrom(...CORPUS).map((text) => text.slice(0, 500)),
        ),
      }),
      { maxLength: 8 },
    ),
  })
  .map(({ text, edits }) => {
    let result = text;
    for (const { at, length, what } of edits) {
      const start = Math.floor(at * result.length);
      result = result.slice(0, start) + what + result.slice(start + length);
    }
    return result.slice(0, BYTES_MAX);
  });

/** Markdown by grammar, by mutation of real texts, and by repetition of constructs until it is long. */
export const markdownTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: grammar },
  { weight: 4, arbitrary: mutated },
  { weight: 3, arbitrary: repeated },
  { weight: 1, arbitrary: ladders },
  { weight: 1, arbitrary: fc.tuple(repeated, mutated).map((pair) => pair.join('\n').slice(0, BYTES_MAX)) },
);
