import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { byReadingOrder } from '../reading-order.ts';
import { givenOrder } from './given-order.ts';
import { orderKind, readOrderFile } from './order-file.ts';
import { pageWeight } from './page-weight.ts';
import { DEPTH_MAX, type OrderFile } from './read-order.ts';

function read(filename: string, text: string): OrderFile {
  const order = readOrderFile(filename, text);
  assert.ok(typeof order === 'object', `${filename} is read as ${JSON.stringify(order)}`);
  return order;
}

/** Sorts files by the given order files and weights. */
function ordered(files: string[], orderFiles: Record<string, string>, weights: Record<string, number> = {}) {
  const orders = new Map(Object.entries(orderFiles).map(([name, text]) => [name, read(name, text)]));
  const { foreign, ...given } = givenOrder(files, orders, new Map(Object.entries(weights)));
  return { foreign: [...foreign], files: files.toSorted((a, b) => byReadingOrder(a, b, given)) };
}

test('order files are recognized by their names, in any folder', () => {
  const names = ['.order', 'a/SUMMARY.md', '_sidebar.md', 'x/toc.yml', 'mkdocs.yaml', 'a/b/_category_.json'];
  assert.ok(names.every((name) => orderKind(name) >= 0));
  assert.ok(['order', 'summary.txt', 'my.order', '_toc.yml', '.order/a', 'sidebar.md'].every((n) => orderKind(n) < 0));
});

test('the order is read from each kind of file, whatever else the file contains', () => {
  assert.deepEqual(read('.order', '\ufeffHome\r\n\r\nGetting-Started\r\n').paths, ['Home', 'Getting-Started']);
  const summary =
    '# Summary\n\n[Preface](preface.md)\n\n* [One](one.md "1")\n  * [Two \\[b\\]](<b/two c.md>)\n- Group\n\t1. [x (y)](g(1).md)\n---\n* [Draft]()\n';
  assert.deepEqual(read('SUMMARY.md', summary).paths, ['preface.md', 'one.md', 'b/two c.md', 'g(1).md', '']);
  assert.deepEqual(read('_sidebar.md', '<!-- docs/_sidebar.md -->\n\n* [Home](/)\n* [Guide](guide.md)').paths, [
    '/',
    'guide.md',
  ]);
  const toc =
    'items:\n- name: A\n  href: a.md\n  items:\n  - {name: B, href: b/, topicHref: b/i.md}\n- name: C\n  tocHref: c/toc.yml\n';
  assert.deepEqual(read('toc.yml', toc).paths, ['a.md', 'b/i.md', 'b/', 'c/toc.yml']);
  const mkdocs =
    'site_name: X\nmarkdown_extensions:\n- e: !!python/name:a.b\nnav:\n- index.md\n- Guide:\n  - One: g/1.md\n  - g/2.md\n';
  assert.deepEqual(read('mkdocs.yml', mkdocs), { paths: ['index.md', 'g/1.md', 'g/2.md'], root: 'docs' });
  assert.equal(read('mkdocs.yml', 'docs_dir: src\nnav: [a.md]').root, 'src');
  assert.equal(read('a/_category_.json', '{"label": "A", "position": 2.5}').weight, 2.5);
  assert.equal(read('a/_category_.yml', 'position: 3').weight, 3);
  assert.equal(read('a/_category_.json', '{"label": "A"}').weight, undefined);
});

test('a page with the name of an order file is no order file, and a broken order file is reported as broken', () => {
  const texts = [
    '# Summary\n\nWe won.\n\n* [One](one.md)\n',
    '- buy milk\n- [x](x.md)\n',
    '- [x](x.md) is good\n',
    '- group\n',
    '',
  ];
  for (const text of texts) assert.equal(readOrderFile('SUMMARY.md', text), 'not_order', text);
  for (const [name, text] of [
    ['toc.yml', 'a: [unclosed'],
    ['mkdocs.yml', 'nav: {{ jinja }}: ['],
    ['_category_.json', '[1'],
    ['_category_.json', '"x"'],
    ['.order', '\n'],
  ] as const) {
    assert.equal(readOrderFile(name, text), 'broken', `${name}: ${text}`);
  }
  assert.equal(readOrderFile('mkdocs.yml', 'site_name: X\n'), 'not_order');
  assert.equal(readOrderFile('toc.yml', 'chapters:\n- a\n'), 'not_order');
});

test('aliases are never expanded, and items that are nested too deep are left out', () => {
  const bomb = `items: &a\n- &b {href: a.md}\n- *b\n- {name: x, items: *a}\n`;
  assert.deepEqual(read('toc.yml', bomb).paths, ['a.md']);
  let nested: object[] = [];
  for (let i = 3 * DEPTH_MAX; i > 0; i -= 1) nested = [{ href: `${i}.md`, items: nested }];
  assert.equal(read('toc.yml', JSON.stringify(nested)).paths.length, DEPTH_MAX);
  for (const text of ['['.repeat(3_000), `nav: ${'- '.repeat(3_000)}`]) {
    assert.equal(readOrderFile('mkdocs.yml', text), 'broken');
  }
});

test('the weight of a page is read from its front matter', () => {
  assert.equal(pageWeight('---\ntitle: A\nsidebar_position: 3 # third\n---\n'), 3);
  assert.equal(pageWeight('\ufeff---\r\nnav_order: "1.5"\r\nweight: -2\r\n---\r\nText'), -2);
  assert.equal(pageWeight('+++\nweight = 20\n[menu]\nweight = 1\n+++\n'), 20);
  assert.equal(pageWeight('+++\n[menu]\nweight = 1\n+++\n'), undefined);
  assert.equal(pageWeight('---\nmenu:\n  weight: 1\n---\n'), undefined);
  assert.equal(pageWeight('---\nweight: 0\n---\n'), undefined);
  assert.equal(pageWeight('# A\n\nweight: 3\n'), undefined);
  assert.equal(pageWeight('\r\n\n---\nweight: 3\n---\n'), 3);
});

test('listed files come first, then files with a weight, then the rest by name; an unlisted index is before all', () => {
  const files = ['README.md', 'a.md', 'b.md', 'c.md', 'd/1.md', 'd/2.md', 'e.md'];
  const { files: list } = ordered(files, { 'SUMMARY.md': '* [](d/2.md)\n* [](c.md)' }, { 'e.md': 1, 'b.md': 2 });
  assert.deepEqual(list, ['README.md', 'd/2.md', 'd/1.md', 'c.md', 'e.md', 'b.md', 'a.md']);
});

test('names are found without extension and case, decoded, from the folder of the file, from docs_dir, or from a root above', () => {
  const files = ['x/docs/A b.md', 'x/docs/g/1.md', 'x/docs/g/2.md', 'x/docs/h/3.md', 'x/docs/z.md'];
  const listed = (name: string, text: string) => ordered(files, { [name]: text }).files;
  const wanted = ['x/docs/z.md', 'x/docs/g/2.md', 'x/docs/g/1.md', 'x/docs/A b.md', 'x/docs/h/3.md'];
  assert.deepEqual(listed('x/docs/_sidebar.md', '* [](/Z)\n* [](g/2.md?id=a#b)\n* [](a%20b)'), wanted);
  assert.deepEqual(listed('x/mkdocs.yml', 'nav: [z.md, g/2.md, A b.md]'), wanted);
  assert.deepEqual(listed('x/docs/mkdocs.yml', 'nav: [z.md, g/2.md, A b.md]'), wanted);
  assert.deepEqual(listed('x/docs/g/_sidebar.md', '* [](/g/2.md)\n* [](g/1.md)')[1], 'x/docs/g/2.md');
});

test('the nearest order file takes precedence, and an order file only applies within its folder', () => {
  const files = ['a.md', 'b.md', 'g/1.md', 'g/2.md', 'g/3.md'];
  const { files: list, foreign } = ordered(files, {
    'toc.yml': '- href: b.md\n- href: g/1.md\n- href: g/3.md\n',
    'g/.order': '2',
    'g/_sidebar.md': '* [](../a.md)',
    'g/toc.yml': '- href: https://example.com/1.md\n- href: //x/1.md',
  });
  assert.deepEqual(list, ['b.md', 'g/2.md', 'g/1.md', 'g/3.md', 'a.md']);
  assert.deepEqual(foreign.toSorted(), ['g/_sidebar.md', 'g/toc.yml']);
});

test('a folder has the weight of its category, otherwise of its index', () => {
  const files = ['a/index.md', 'a/x.md', 'b/_index.md', 'c/y.md', 'd.md'];
  const { files: list } = ordered(
    files,
    { 'c/_category_.json': '{"position": 1}' },
    { 'a/index.md': 3, 'b/_index.md': 2, 'd.md': 2.5 },
  );
  assert.deepEqual(list, ['c/y.md', 'b/_index.md', 'd.md', 'a/index.md', 'a/x.md']);
});

test('the comparison is a total order of names for any lists and weights', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', '1', 'index.md'), { minLength: 1, maxLength: 3 })
    .map((p) => p.join('/'));
  const numbers = fc.array(fc.tuple(path, fc.integer({ min: 0, max: 3 }))).map((entries) => new Map(entries));
  fc.assert(
    fc.property(path, path, path, numbers, numbers, (a, b, c, listed, weights) => {
      const by = (x: string, y: string) => byReadingOrder(x, y, { listed, weights });
      assert.equal(Math.sign(by(a, b)), -Math.sign(by(b, a)) || 0);
      assert.equal(by(a, b) === 0, a === b);
      if (by(a, b) <= 0 && by(b, c) <= 0) assert.ok(by(a, c) <= 0);
    }),
    { numRuns: extent(1_000, 200) },
  );
});
