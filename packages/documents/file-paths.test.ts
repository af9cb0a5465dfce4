import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { isPageSlug } from '@ibid/markdown/slugs/page-slug.ts';
import fc from 'fast-check';
import { anyText } from '../../test/any-text.ts';
import { extent } from '../../test/extent.ts';
import { planPaths } from './file-paths.ts';
import { cleanFilename } from './filename.ts';

const nothing = () => undefined;

test('a file becomes a page below the pages of its folders', () => {
  const plan = planPaths(['Getting Started/First Steps.md', 'Getting Started/Größe.txt', 'notes.html'], nothing);
  assert.deepEqual(plan.files, ['getting-started/first-steps', 'getting-started/grosse', 'notes']);
  assert.deepEqual([...plan.folders], [['getting-started', 'Getting Started']]);
});

test('index and README are the page of their folder, and ordinary pages at the top', () => {
  const plan = planPaths(
    ['a/README.md', 'a/b/Index.HTML', 'README.md', 'index.md', 'c/readme.md', 'c/index.md'],
    nothing,
  );
  assert.deepEqual(plan.files, ['a', 'a/b', 'readme', 'index', 'c', 'c/index']);
  assert.equal(plan.folders.size, 0);
});

test('names with the same slug are numbered in order, folders before files', () => {
  const plan = planPaths(['x.md', 'X.md', 'x.md', 'x/y.md', 'X/y.md', '日本.md', '中国.md'], nothing);
  assert.deepEqual(plan.files, ['x', 'x-2', 'x-3', 'x/y', 'x-2/y', '日本', '中国']);
});

test('an existing page is never replaced, and the pages of a folder are created below it', () => {
  const pageAt = (path: string) => (path === 'guide' || path === 'guide/setup' ? 'authored' : undefined);
  const plan = planPaths(['guide.md', 'guide/README.md', 'guide/setup.md'], pageAt);
  assert.deepEqual(plan.files, ['guide-2', 'guide/readme', 'guide/setup-2']);
});

test('every file gets a unique well-formed path, for any names', () => {
  const names = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('a', 'A', 'ä', '/', '.', '..', '\\', '-', 'index', 'readme', '.md', '%2e'),
      maxLength: 12,
    }),
    fc.constantFrom('../../etc/passwd', 'C:\\x\\y.md', '/abs/x.md', 'a/./b.md', '....//x', '\0', 'x'.repeat(3_000)),
    fc.constant(Array.from({ length: 30 }, () => 'щ'.repeat(30)).join('/')),
  );
  const there = fc.dictionary(
    fc.constantFrom('a', 'page', 'index', 'a/a', 'page/page', 'a-2', 'x-y-md'),
    fc.constantFrom('authored' as const, 'compiled' as const),
  );
  fc.assert(
    fc.property(fc.array(names, { maxLength: 30 }), there, (given, existing) => {
      const pageAt = (path: string) => new Map(Object.entries(existing)).get(path);
      const plan = planPaths(given.map(cleanFilename), pageAt);
      const pages = [...plan.files, ...plan.folders.keys()];
      assert.equal(plan.files.length, given.length);
      assert.equal(new Set(pages).size, pages.length, 'no two files or folders may share a page');
      for (const path of pages) {
        assert.ok(path.length <= 1_024, `the path must be at most 1,024 characters, not ${path.length}`);
        const segments = path.split('/');
        assert.ok(segments.length <= 21, `${path} must be at most 20 folders deep`);
        assert.ok(segments.every(isPageSlug), `each segment of ${path} must be a slug`);
        const parent = folderOf(path);
        const isThere = parent === '' || pages.includes(parent) || pageAt(parent) !== undefined;
        assert.ok(isThere, `the page ${parent} must be there for ${path} to lie below it`);
      }
    }),
    { numRuns: extent(300, 100) },
  );
});
