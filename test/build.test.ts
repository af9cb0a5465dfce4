import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BUILT, buildInfo } from '../src/platform/core/package/package-files.ts';

/** Returns the text of a built file and of everything it imports statically, so without `import()`. */
function loadedWith(name: string): string {
  const text = readFileSync(new URL(name, BUILT), 'utf8');
  const imported = [...text.matchAll(/^(?:import|\}) (?:from )?"\.\/([^"]+)";$/gm)].map(([, next = '']) => next);
  return text + imported.map(loadedWith).join('');
}

test('a rendering process starts without the grammars of rare languages', () => {
  const loaded = loadedWith('rendering.mjs');
  const languages = [...loaded.matchAll(/^\/\/ .*languages\/(\w+)\.js$/gm)].map(([, name]) => name);
  assert.ok(languages.includes('typescript'));
  assert.ok(!languages.includes('mathematica'));
});

test('every text asset for browsers has compressed copies in the same folder', () => {
  const { files } = buildInfo().assets;
  const there = new Set(readdirSync(new URL('assets/', BUILT), { encoding: 'utf8', recursive: true }));
  for (const [name, isCompressed] of Object.entries(files)) {
    const copies = isCompressed ? [`${name}.br`, `${name}.gz`] : [];
    for (const each of [name, ...copies]) assert.ok(there.has(each), each);
  }
  assert.ok(files['style.css'] && files['widgets/profile.js'] && files['pdfjs/cmaps/Adobe-Japan1-0.bcmap'] === false);
});
