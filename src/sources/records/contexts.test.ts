import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { targetOf } from '@ibid/markdown/blocks/block-targets.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { extent } from '../../../test/extent.ts';
import { randomNumbers } from '../../../test/random-numbers.ts';
import { compareBlocks, readShownPage } from './shown-blocks.ts';

const EDITS = extent(1_200, 300);
const SEED = 20_261_128;

/** The compiled blocks of a page in `folder`, in the form that cite-blocks.ts produces. */
function compiledOf(markdown: string, folder = '') {
  const { text, blocks } = renderMarkdown(markdown);
  return blocks.map(({ start, end, form, context, targets }) => ({
    quote: text.slice(start, end),
    form_sha256: hash('sha256', form),
    form_kind: 'whole' as const,
    context,
    targets: targets.map((target) => targetOf(target, folder)),
  }));
}

/** Maps the quote of each block of `before` to its state in `after`: `full`, `half: …` or `none`. */
function ticks(before: string, after: string, meant?: ReadonlyMap<string, string>, folder = ''): Map<string, string> {
  const compiled = compiledOf(before, folder);
  const page = readShownPage(renderMarkdown(after).html, folder);
  const shown = compareBlocks(compiled, page, meant);
  return new Map(
    shown.map(({ shown: is, context }, i) => {
      const half = context.length > 0 ? `half: ${context}` : 'full';
      return [compiled[i]?.quote ?? '', is === 'unchanged' ? half : 'none'];
    }),
  );
}

const WORDS = 'pump valve lid tank hose wheel motor filter lamp cable'.split(' ');

/** A document that has every kind of context. Each block has its own number. */
function documentOf(pick: (n: number) => number) {
  const word = () => WORDS[pick(WORDS.length)] ?? '';
  return {
    heads: ['Part', `Least ${word()}`, `Most ${word()}`],
    rows: [1, 2, 3].map((i) => [`row ${i} ${word()}`, `${i} mm`, `${i + 5} mm`]),
    first: 1 + pick(4),
    steps: [1, 2, 3, 4].map((i) => `Step of number ${i} with the ${word()}`),
    sections: [
      { heading: 'Allowed', texts: [`You open the ${word()} one.`, `You close the ${word()} two.`] },
      { heading: 'Forbidden', texts: [`You move the ${word()} three.`, `You lift the ${word()} four.`] },
    ],
    term: `The ${word()} term`,
    definition: `A definition of a ${word()}.`,
    noted: `Take ten of the ${word()}.`,
    mark: '[^n]',
    note: `Only for a ${word()}.`,
    link: ['page-a', 'guide/page-b', 'https://example.com/a', '#allowed'][pick(4)] ?? '',
    picture: 'https://example.com/a.png',
  };
}

type Doc = ReturnType<typeof documentOf>;

const linked = 'Read the safety rules here.';
const pictured = 'A plan of it';

function markdownOf(doc: Doc): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '# The machine',
    [row(doc.heads), '|---|---|---|', ...doc.rows.map(row)].join('\n'),
    doc.steps.map((step, i) => `${doc.first + i}. ${step}`).join('\n'),
    ...doc.sections.flatMap(({ heading, texts }) => [`## ${heading}`, ...texts]),
    '## Words',
    `${doc.term}\n: ${doc.definition}`,
    `${doc.noted}${doc.mark}`,
    `Read the [safety rules](${doc.link}) here.`,
    `![${pictured}](${doc.picture})`,
    `[^n]: ${doc.note}`,
    '[^f]: This is false.',
  ].join('\n\n');
}

/** Edits in the context of blocks, each with the blocks that must lose their full tick. */
const AROUND: Record<string, (doc: Doc, pick: (n: number) => number) => [Doc, string[]]> = {
  'heads exchanged': (doc) => [{ ...doc, heads: [0, 2, 1].map((i) => doc.heads[i] ?? '') }, rowsOf(doc)],
  'a head renamed': (doc, pick) => [{ ...doc, heads: doc.heads.with(1 + pick(2), 'Never') }, rowsOf(doc)],
  'a step moved'(doc, pick) {
    const from = pick(4);
    const to = (from + 1 + pick(3)) % 4;
    const moved = doc.steps.toSpliced(from, 1).toSpliced(to, 0, doc.steps[from] ?? '');
    return [{ ...doc, steps: moved }, doc.steps.filter((step, i) => moved[i] !== step)];
  },
  'steps renumbered': (doc, pick) => [{ ...doc, first: doc.first + 1 + pick(5) }, doc.steps],
  'a paragraph below another heading'(doc, pick) {
    const [a, b] = doc.sections as [Doc['sections'][0], Doc['sections'][0]];
    const at = pick(2);
    const text = a.texts[at] ?? '';
    const sections = [
      { ...a, texts: a.texts.toSpliced(at, 1) },
      { ...b, texts: [...b.texts, text] },
    ];
    return [{ ...doc, sections }, [text]];
  },
  'a heading renamed'(doc, pick) {
    const at = pick(2);
    const section = doc.sections[at] as Doc['sections'][0];
    const heading = pick(2) === 0 ? `Not ${section.heading.toLowerCase()}` : `~~${section.heading}~~`;
    return [{ ...doc, sections: doc.sections.with(at, { ...section, heading }) }, [section.heading, ...section.texts]];
  },
  'headings exchanged'(doc) {
    const [a, b] = doc.sections as [Doc['sections'][0], Doc['sections'][0]];
    const sections = [
      { ...a, heading: b.heading },
      { ...b, heading: a.heading },
    ];
    return [{ ...doc, sections }, [...a.texts, ...b.texts]];
  },
  'another term': (doc) => [{ ...doc, term: 'Another' }, [doc.term, doc.definition]],
  'a note added': (doc) => [{ ...doc, mark: '[^n][^f]' }, [doc.noted]],
  'a mark led to another note': (doc) => [{ ...doc, mark: '[^f]' }, [doc.noted]],
  'a mark taken off': (doc) => [{ ...doc, mark: '' }, [doc.noted]],
  'a note rewritten': (doc) => [{ ...doc, note: 'For nobody.' }, [doc.noted, doc.note]],
  'a link led elsewhere': (doc, pick) => [
    { ...doc, link: ['page-c', '../x', 'https://evil.example/a', '#forbidden', 'mailto:a@example.com'][pick(5)] ?? '' },
    [linked],
  ],
  'another picture': (doc, pick) => [
    { ...doc, picture: ['https://example.com/b.png', 'b.png', 'attachment:attachment_x'][pick(3)] ?? '' },
    [pictured],
  ],
};

function rowsOf({ heads, rows }: Doc): string[] {
  return [heads, ...rows].map((cells) => cells.join(' '));
}

test('edits around a block take its full tick, and blocks with an unchanged context keep theirs', (t) => {
  t.diagnostic(`seed ${SEED}`);
  const random = randomNumbers(SEED);
  const pick = (n: number) => Math.floor(random() * n);
  const names = Object.keys(AROUND);
  let kept = 0;
  let lost = 0;
  for (let i = 0; i < EDITS; i += 1) {
    const name = names[i % names.length] ?? '';
    const doc = documentOf(pick);
    const [edited, changed] = AROUND[name]?.(doc, pick) ?? [doc, []];
    const all = ticks(markdownOf(doc), markdownOf(edited));
    const notes = ['[^n]', '[^n][^f]'].includes(edited.mark) ? [] : [doc.note];
    for (const quote of changed) {
      assert.ok(all.has(quote), `${name}: ${quote} is a block among ${[...all.keys()].join(' / ')}`);
      if (all.get(quote) === 'full') kept += 1;
      assert.notEqual(all.get(quote), 'full', `${name}: ${quote}`);
    }
    for (const [quote, tick] of all) {
      if (changed.includes(quote) || notes.includes(quote) || tick === 'full') continue;
      lost += 1;
      assert.fail(`${name}: ${quote} has not changed and is ${tick}`);
    }
  }
  t.diagnostic(`${EDITS} edits: ${kept} keep a full tick, ${lost} unchanged blocks lose theirs`);
});

test('half a tick names the part of the context that changed', () => {
  const doc = documentOf(() => 0);
  const before = markdownOf(doc);
  const half = (after: string, quote: string) => ticks(before, after).get(quote);
  assert.equal(
    half(before.replace('## Allowed', '## Never allowed'), doc.sections[0]?.texts[0] ?? ''),
    'half: headings',
  );
  assert.equal(half(before.replace('# The machine', '# Not the machine'), doc.definition), 'half: headings');
  assert.equal(half(markdownOf({ ...doc, first: 7 }), doc.steps[0] ?? ''), 'half: place');
  assert.equal(half(markdownOf({ ...doc, term: 'Else' }), doc.definition), 'half: place');
  const linkedMore = before.replace(doc.noted, doc.noted.replace('ten', '[ten](page-c)'));
  assert.equal(half(linkedMore, doc.noted), 'half: links', 'a link added');
  assert.equal(
    half(before.replace(/\[safety rules\]\([^)]*\)/, 'safety rules'), linked),
    'half: links',
    'a link taken away',
  );
  assert.equal(half(before.replace(/\[safety rules\]\([^)]*\)/, '[safety rules](page-c)'), linked), 'none');
});

test('a table under another caption and a nested list with another first number change the context', () => {
  const table = (caption: string) =>
    `<table><caption>${caption}</caption><tr><th>a</th></tr><tr><td>1</td></tr></table>`;
  assert.equal(ticks(table('Least'), table('Most')).get('1'), 'half: place');
  assert.equal(ticks('- a\n\n  1. b', '- a\n\n  5. b').get('a\nb'), 'half: place');
  assert.equal(ticks('- a\n- b\n- c', '- c\n- a\n- b').get('c'), 'full', 'an item of a list without numbers');
  assert.equal(ticks('## A\n\nx', '### A\n\nx').get('x'), 'full', 'the level of a heading');
});

test('sections with equal blocks can swap places', () => {
  const section = (name: string) => `## ${name}\n\nSee [here](${name.toLowerCase()}).\n\n1. One\n2. Two`;
  const [one, two] = [section('First'), section('Second')];
  for (const tick of ticks(`${one}\n\n${two}`, `${two}\n\n${one}`).values()) assert.equal(tick, 'full');
});

test('a link to a moved page, or a different spelling of the same target, still matches', () => {
  const meant = new Map([
    ['page:guide/a', 'page_1'],
    ['page:moved/b', 'page_1'],
    ['page:other', 'page_2'],
  ]);
  const tick = (after: string) => ticks('[See](a#part) it', after, meant, 'guide').get('See it');
  assert.equal(tick('[See](../moved/b#part) it'), 'full');
  assert.equal(tick('[See](../guide/a#part) it'), 'full');
  assert.equal(tick('[See](../moved/b#else) it'), 'none');
  assert.equal(tick('[See](../other#part) it'), 'none');
});

test('a wiki link without a page matches a page created later with that name', () => {
  const compiled = compiledOf('See [[Release notes|them]] now.');
  const shown = (path: string) => {
    const { html } = renderMarkdown('See [[Release notes|them]] now.', {
      wiki_id: '',
      page_path: 'guide/page',
      findPage: () => ({ path }),
    });
    return compareBlocks(compiled, readShownPage(html, 'guide'))[0]?.shown;
  };
  assert.equal(shown('docs/release-notes'), 'unchanged');
  assert.equal(shown('docs/else'), 'edited');
});
