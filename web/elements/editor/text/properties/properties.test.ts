import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as properties from './properties.ts';

const { addItem, addProperty, readProperties, removeItem, removeProperty, setValue } = properties;

const TEXT = `---
# kept by hand
title: "A: title"   # said twice
tags: [install, 'two words']
'quoted key': it's
date: 2026-03-01
aliases:
  - One # the first
  - "Two"
draft: false
empty:
version: 1.10
map:
    deep:   [a,b]
note: |
  Two
  lines
---`;

type Change = ReturnType<typeof setValue>;

function changed(text: string, change: Change): string {
  assert.ok(change, 'it can be changed');
  return text.slice(0, change.from) + change.insert + text.slice(change.to);
}

/** Returns the lines that a change removed and added. */
function diff(change: Change, text = TEXT): [string[], string[]] {
  const before = text.split('\n');
  const after = changed(text, change).split('\n');
  return [before.filter((line) => !after.includes(line)), after.filter((line) => !before.includes(line))];
}

test('front matter is shown as rows with each value as written in the source', () => {
  const reading = readProperties(TEXT);
  assert.ok(reading && 'properties' in reading);
  assert.deepEqual(
    reading.properties.map(({ name, kind, value, items }) => [name, kind, kind === 'list' ? items : value]),
    [
      ['title', 'text', 'A: title'],
      ['tags', 'list', ['install', 'two words']],
      ['quoted key', 'text', "it's"],
      ['date', 'date', '2026-03-01'],
      ['aliases', 'list', ['One', 'Two']],
      ['draft', 'check', 'false'],
      ['empty', 'text', ''],
      ['version', 'text', '1.10'],
      ['map', 'other', 'deep:   [a,b]'],
      ['note', 'other', '|\n  Two\n  lines'],
    ],
  );
});

test('a change writes the bytes of one value and keeps comments, quotes, indentation and order', () => {
  assert.deepEqual(diff(setValue(TEXT, 'title', 'Say "so"')), [
    ['title: "A: title"   # said twice'],
    ['title: "Say \\"so\\""   # said twice'],
  ]);
  assert.deepEqual(diff(setValue(TEXT, 'quoted key', "it isn't")), [
    ["'quoted key': it's"],
    ["'quoted key': it isn't"],
  ]);
  assert.deepEqual(diff(setValue(TEXT, 'date', '2026-12-24')), [['date: 2026-03-01'], ['date: 2026-12-24']]);
  assert.deepEqual(diff(setValue(TEXT, 'draft', 'true')), [['draft: false'], ['draft: true']]);
  assert.deepEqual(diff(setValue(TEXT, 'empty', 'no: more')), [['empty:'], ['empty: "no: more"']]);
  assert.deepEqual(diff(setValue(TEXT, 'version', '')), [['version: 1.10'], ['version:']]);
  assert.deepEqual(diff(addItem(TEXT, 'tags', 'a, b')), [
    ["tags: [install, 'two words']"],
    ['tags: [install, \'two words\', "a, b"]'],
  ]);
  assert.deepEqual(diff(removeItem(TEXT, 'tags', 0)), [["tags: [install, 'two words']"], ["tags: ['two words']"]]);
  assert.deepEqual(diff(addItem(TEXT, 'aliases', 'Three')), [[], ['  - Three']]);
  assert.deepEqual(diff(removeItem(TEXT, 'aliases', 1)), [['  - "Two"'], []]);
  assert.deepEqual(diff(addProperty(TEXT, 'lang')), [[], ['lang:']]);
  assert.deepEqual(diff(removeProperty(TEXT, 'aliases')), [['aliases:', '  - One # the first', '  - "Two"'], []]);
  assert.deepEqual(diff(removeProperty(TEXT, 'note')), [['note: |', '  Two', '  lines'], []]);
});

test('a typed value is read back unchanged, whatever it means in YAML', () => {
  const words = [
    'null',
    '~',
    'yes',
    '# no comment',
    '- item',
    '[a',
    '{',
    '*alias',
    '&anchor',
    '!tag',
    "'",
    '"',
    '\\',
    'a: b',
    '@',
    '%',
    '|',
    '---',
    'a #b',
    'true',
    '0x1f',
    '日本語',
    'é,',
    '<<',
  ];
  for (const word of words) {
    for (const name of ['empty', 'title', 'quoted key', 'date']) {
      const now = readProperties(changed(TEXT, setValue(TEXT, name, word)));
      assert.ok(now && 'properties' in now, word);
      assert.equal(now.properties.find((it) => it.name === name)?.value, word, `${name}: ${word}`);
    }
    for (const name of ['tags', 'aliases']) {
      const now = readProperties(changed(TEXT, addItem(TEXT, name, word)));
      assert.ok(now && 'properties' in now, word);
      assert.equal(now.properties.find((it) => it.name === name)?.items.at(-1), word, `${name}: ${word}`);
    }
    const named = readProperties(changed(TEXT, addProperty(TEXT, word)));
    assert.ok(named && 'properties' in named, word);
    assert.equal(named.properties.at(-1)?.name, word);
  }
});

test('a list grows from empty and shrinks back to empty', () => {
  let text = '---\ntags: # mine\n---';
  text = changed(text, addItem(text, 'tags', 'one'));
  text = changed(text, addItem(text, 'tags', 'two'));
  assert.equal(text, '---\ntags: [one, two] # mine\n---');
  text = changed(text, removeItem(text, 'tags', 1));
  text = changed(text, removeItem(text, 'tags', 0));
  assert.equal(text, '---\ntags: [] # mine\n---');
  assert.equal(changed('---\ntags:\n- a\n---', removeItem('---\ntags:\n- a\n---', 'tags', 0)), '---\ntags: []\n---');
  assert.equal(changed('---\n---', addProperty('---\n---', 'tags')), '---\ntags:\n---');
});

test('text that is not YAML, or not a list of fields, has no rows and is never changed', () => {
  assert.deepEqual(readProperties('---\na: 1\nb: [\n---'), { badLine: 4 });
  assert.deepEqual(readProperties('---\na: b: c\n---'), { badLine: 2 });
  assert.deepEqual(readProperties('---\na: 1\na: 2\n---'), { badLine: 3 });
  for (const text of ['---\n- a\n---', '---\n{a: 1}\n---', '---\njust text\n---']) {
    assert.equal(readProperties(text), undefined, text);
    assert.equal(addProperty(text, 'b'), undefined, text);
  }
  const deep = `---\na: ${'['.repeat(2_000)}\n---`;
  assert.deepEqual(readProperties(deep) && Object.keys(readProperties(deep) as object), ['badLine']);
  for (const shared of ['---\na: &x 1\nb: *x\n---', '---\na: !!str 1\n---']) {
    assert.equal(setValue(shared, 'a', '2'), undefined, shared);
    assert.equal(removeProperty('---\na: &x 1\nb: *x\n---', 'a'), undefined, 'an alias keeps what it names');
  }
});
