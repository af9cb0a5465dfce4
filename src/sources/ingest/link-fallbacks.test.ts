import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, newFolderWiki } from '../../../test/folder-wiki.ts';
import { png } from '../../../test/pictures.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();

/** Uploads files; returns the link addresses and HTML of a page, and the summary. */
async function linksOf(files: Files, path: string): Promise<{ hrefs: string[]; html: string; summary: string }> {
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add(files);
  const { html } = await wiki.page(path);
  return { hrefs: [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href ?? ''), html, summary };
}

test('an address ending in .html resolves to the text of that name, unless such a file exists', async () => {
  const { hrefs, summary } = await linksOf(
    {
      'b/one.md':
        '# One\n\n[a](two.html#part) [b](sub/three.htm) [c](real.html) [d](two) [e](<a href="two.html">) <a href="two.html">x</a>\n',
      'b/two.md': '# Two\n\n## Part\n',
      'b/sub/three.md': '# Three\n',
      'b/real.html': '<h1>Real</h1>',
      'b/real.md': '# Not this\n',
    },
    'b/one',
  );
  assert.deepEqual(hrefs.slice(0, 4), ['two#h-part', 'sub/three', 'real', 'two']);
  assert.equal(hrefs.at(-1), 'two');
  assert.doesNotMatch(summary, /[2-9] broken/);
});

test('an address that leads above the root resolves from the root, as in browsers', async () => {
  const { html, hrefs } = await linksOf(
    {
      'docs/a/b.md': '# B\n\n![p](../../../images/p.png) [c](../../../c.md)\n',
      'docs/images/p.png': png(),
      'docs/c.md': '# C\n',
    },
    'docs/a/b',
  );
  assert.match(html, /<img src="\/v1\/wikis/);
  assert.deepEqual(hrefs, ['../c']);
});

test('an address from the documentation root resolves there if no sibling has the name', async () => {
  const { hrefs, summary } = await linksOf(
    {
      'site/docs/auth/index.md': '# Auth\n\n[a](auth_api.md) [b](api/rest.md) [own](own.md) [none](./auth_api.md)\n',
      'site/docs/auth_api.md': '# API\n',
      'site/docs/api/rest.md': '# REST\n',
      'site/docs/own.md': '# Other\n',
      'site/docs/auth/own.md': '# Own\n',
    },
    'site/docs/auth',
  );
  assert.deepEqual(hrefs.slice(0, 3), ['auth-api', 'api/rest', 'auth/own']);
  assert.match(summary, /1 broken link\b/);
});

test('a fragment that matches no id resolves to the heading with the same letters and digits', async () => {
  const wiki = await newFolderWiki(owner);
  const markdown =
    '## css.transformer\n\n## 1. Create it\n\n## Ünïcode & more\n\n[a](#css-transformer) [b](#id-1.-create-it) [c](#ünïcode-and-more) [d](#%C3%BCn%C3%AFcode--more) [e](#nothing)\n';
  const { body } = await owner.post(`${wiki.at}/pages`, { title: 'X', markdown });
  const hrefs = [...body.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => decodeURIComponent(href ?? ''));
  assert.deepEqual(hrefs, [
    '#h-csstransformer',
    '#h-1-create-it',
    '#h-ünïcode-and-more',
    '#h-ünïcode--more',
    '#h-nothing',
  ]);
});
