import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EXPORTS } from '@ibid/documents/exports/recognize.ts';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { png } from '../../../test/pictures.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { zipOf } from '../../../test/zip.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';

const world = await sharedWorld();
const owner = await world.owner();

const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const ID = '0123456789abcdef'.repeat(2);

function confluencePage(title: string, text: string): string {
  return `<html><head><title>Our Space : ${title}</title></head><body>
<div id="page"><div id="main"><div id="main-header">
<div id="breadcrumb-section"><ol id="breadcrumbs"><li class="first"><span><a href="index.html">Our Space</a></span></li></ol></div>
<h1 id="title-heading" class="pagetitle"><span id="title-text">Our Space : ${title}</span></h1></div>
<div id="content" class="view"><div class="page-metadata">Created by <span class="author">Ada</span></div>
<div id="main-content" class="wiki-content group">${text}</div>
<div class="pageSection group"><h2 id="attachments">Attachments:</h2><a href="attachments/1/2.png">p.png</a></div>
</div></div></div></body></html>`;
}

interface Fixture {
  files: Files;
  /** The expected tree, and patterns that the summary must or must not match. */
  tree: string[];
  says?: RegExp;
  /** Patterns that the HTML of pages must match, by path. */
  html?: Record<string, RegExp>;
}

const FIXTURES: Record<string, Fixture> = {
  Notion: {
    files: {
      [`Team ${ID}.md`]: `# Team\n\n[Sub](Team%20${ID}/Sub%20${ID}.md)\n`,
      [`Team ${ID}/Sub ${ID}.md`]: '# Sub\n\ntext\n',
    },
    tree: ['team', 'team/sub'],
    html: { team: /href="team\/sub"/ },
  },
  Confluence: {
    files: {
      'SP/index.html':
        '<html><head><title>SP (Our Space)</title></head><body><h2>Available Pages:</h2><ul><li><a href="Home_1.html">Home</a><ul><li><a href="Zebra_2.html">Zebra</a></li><li><a href="3.html">子ページ</a><ul><li><a href="Deep_4.html">Deep</a></li></ul></li></ul></li></ul></body></html>',
      'SP/Home_1.html': confluencePage(
        'Home',
        '<p>Home text <a href="Zebra_2.html">zebra</a></p><img src="attachments/1/2.png">',
      ),
      'SP/Zebra_2.html': confluencePage('Zebra', '<p>Zebra text</p>'),
      'SP/3.html': confluencePage('子ページ', '<p>Child text</p>'),
      'SP/Deep_4.html': confluencePage('Deep: below', '<p>Deep <a href="Home_1.html">home</a></p>'),
      'SP/styles/site.css': 'body { color: red }\n',
      'SP/attachments/1/2.png': png(),
    },
    tree: ['sp', 'sp/home', 'sp/home/zebra', 'sp/home/子ページ', 'sp/home/子ページ/deep'],
    says: /1 export file left out/,
    html: {
      'sp/home': /^<p>Home text <a href="home\/zebra">zebra<\/a><\/p>\s*<p><img [^>]*><\/p>\s*$/,
      'sp/home/子ページ/deep': /href="\.\.\/\.\.\/home"/,
    },
  },
  Outline: {
    files: {
      'Eng/Docker.md': `# Docker\n\n[c](./Docker/Compose.md) ![p](uploads/${UUID}/${UUID}/p.png)\n`,
      'Eng/Docker/Compose.md': '# Compose\n\n[d](../Docker.md)\n',
      [`Eng/uploads/${UUID}/${UUID}/p.png`]: png(),
    },
    tree: ['eng', 'eng/docker', 'eng/docker/compose'],
    html: { 'eng/docker': /<img src="\/v1/, 'eng/docker/compose': /href="\.\.\/docker"/ },
  },
  Docmost: {
    files: {
      'docmost-metadata.json': '{"source":"docmost","pages":{}}',
      'Guide.md': '# Guide\n\n[s](Guide/Setup.md)\n',
      'Guide/Setup.md': '# Setup\n',
    },
    tree: ['guide', 'guide/setup'],
    says: /1 export file left out/,
  },
  'Wiki.js': {
    files: {
      'users.json.gz': new Uint8Array([0x1f, 0x8b, 8, 0]),
      'home.md': '---\ntitle: Our home\ntags: a, b\n---\n\n# Welcome\n\n[s](/guide/setup)\n',
      'guide.md': '---\ntitle: Guide\n---\n\nText\n',
      'guide/setup.md': '---\ntitle: Set up\n---\n\nText\n',
    },
    tree: ['guide', 'guide/setup', 'home'],
    html: { home: /href="guide\/setup"/ },
  },
  'Azure DevOps': {
    files: {
      '.order': 'Home\nAbout\n',
      'Home.md': '# Home\n\n![a](/.attachments/a.png) [s](/Home/Sub-page) [q](/Home/Q%26A)\n',
      'About.md': '# About\n',
      'Home/.order': 'Sub-page\nQ%26A\n',
      'Home/Q%26A.md': 'No heading, either. [s](/Home/Sub-page)\n',
      'Home/Sub-page.md': 'No heading\n',
      '.attachments/a.png': png(),
    },
    tree: ['home', 'home/sub-page', 'home/q-a', 'about'],
    says: /2 files used for the order/,
    html: { home: /<img src="\/v1.*href="home\/sub-page".*href="home\/q-a"/s, 'home/q-a': /href="sub-page"/ },
  },
  GitBook: {
    files: {
      '.gitbook.yaml': 'root: ./\n',
      'SUMMARY.md': '# Table of contents\n\n* [Z](z.md)\n* [A](a/README.md)\n  * [B](a/b.md)\n',
      'z.md': '# Z\n\n![p](.gitbook/assets/p%201.png)\n',
      'a/README.md': '# A\n',
      'a/b.md': '# B\n',
      '.gitbook/assets/p 1.png': png(),
    },
    tree: ['z', 'a', 'a/b'],
    html: { z: /<img src="\/v1/ },
  },
  Logseq: {
    files: {
      'G/logseq/config.edn': '{:meta/version 1}\n',
      'G/logseq/custom.css': 'a {}\n',
      'G/pages/A.md': '- First [[B]]\n',
      'G/pages/B.md': '- Second ![x](../assets/p.png)\n',
      'G/assets/p.png': png(),
    },
    tree: ['g', 'g/pages', 'g/pages/a', 'g/pages/b'],
    says: /2 export files left out/,
    html: { 'g/pages/a': /<a class="wiki" href="b">/, 'g/pages/b': /<img src="\/v1/ },
  },
  Obsidian: {
    files: {
      'V/Start/Start.md': '# Begin\n\n[[Idea]] ![[p.png]]\n',
      'V/Idea.md': '',
      'V/Board.canvas': '{"nodes":[]}',
      'V/p.png': png(),
    },
    tree: ['v', 'v/idea', 'v/start'],
    html: { 'v/start': /<a class="wiki" href="idea">.*<img src="\/v1/s },
  },
  Joplin: {
    files: {
      'Work/Note.md': '# Note\n\n![p](../_resources/p.png)\n',
      '_resources/p.png': png(),
    },
    tree: ['work', 'work/note'],
    html: { 'work/note': /<img src="\/v1/ },
  },
  BookStack: {
    files: { 'data.json': '{"book":{"name":"B","chapters":[],"pages":[]}}', 'files/p.png': png() },
    tree: ['data'],
    says: /Pages of a portable BookStack ZIP are not supported\. Export each book/,
  },
};

for (const { name } of EXPORTS) {
  test(`an export of ${name} keeps its tree, links and pictures, as a ZIP and as a folder`, async () => {
    const { files, tree, says, html = {} } = FIXTURES[name] ?? assert.fail('it has no fixture');
    for (const door of ['zip', 'folder'] as const) {
      const wiki = await newFolderWiki(owner);
      const { status, summary } = await wiki.add(
        door === 'zip' ? { 'export.zip': zipOf(Object.entries(files)) } : files,
      );
      assert.equal(status, 'completed', summary);
      assert.deepEqual(await wiki.tree(), tree, `${door}: ${summary}`);
      assert.ok(summary.includes(` Recognized as an export of ${name}.`), summary);
      assert.doesNotMatch(summary, /failed|broken link/);
      if (says) assert.match(summary, says);
      for (const [path, expected] of Object.entries(html)) {
        assert.match(decodeURI((await wiki.page(encodeURI(path))).html), expected, `${door}: ${path}`);
      }
      const again = await wiki.add(door === 'zip' ? { 'export.zip': zipOf(Object.entries(files)) } : files);
      assert.match(again.summary, /0 new pages/);
      assert.deepEqual(await wiki.tree(), tree);
    }
  });
}

test('titles of Confluence pages omit the name of the space', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.add({ 'e.zip': zipOf(Object.entries(FIXTURES.Confluence?.files ?? {})) });
  const titles = (await wiki.pages()).map(({ title }) => title).sort();
  assert.deepEqual(titles, ['Deep: below', 'Home', 'SP', 'Zebra', '子ページ']);
});

test('percent-encoded characters in filenames are decoded in titles', async () => {
  const wiki = await newFolderWiki(owner);
  await wiki.add({ 'Q%26A.md': 'x\n', '100% done.md': 'y\n', 'bad%E0%A4%A.md': 'z\n', 'a%2Fb.md': 'w\n' });
  const titles = (await wiki.pages()).map(({ title }) => title).sort();
  assert.deepEqual(titles, ['100% done', 'Q&A', 'a/b', 'bad%E0%A4%A']);
});

test('ordinary files are not recognized as an export', async () => {
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add({
    'a/index.html': '<h1>A</h1>',
    'a/b.html': '<h1 id="main-content">B</h1><p>x</p>',
    'c.md': '# C\n',
    'README.md': '# R\n',
  });
  assert.doesNotMatch(summary, /Recognized/);
});

test('every recognized export has a section in docs/coming-from.md', () => {
  const text = readFileSync(new URL('docs/coming-from.md', PACKAGE), 'utf8');
  const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual(sections.sort(), EXPORTS.map(({ name }) => name).sort());
});
