import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lossList } from '../loss-list.ts';
import { htmlToMarkdown, openHtmlParts } from './html.ts';
import { findReferences } from './references.ts';

const markdownOf = (html: string) => htmlToMarkdown(html).markdown.trim();

const NOTES: Record<string, [reference: string, note: string]> = {
  LibreOffice: [
    '<a class="sdfootnoteanc" name="sdfootnote1anc" href="#sdfootnote1sym"><sup>1</sup></a>',
    '<div id="sdfootnote1"><p class="sdfootnote"><a class="sdfootnotesym" name="sdfootnote1sym" href="#sdfootnote1anc">1</a>\n\tA note.</p></div>',
  ],
  'LibreOffice, as XHTML': [
    '<span class="Footnote_20_anchor" title="Footnote: A note."><a href="#ftn1" id="body_ftn1">1</a></span>',
    '<p class="Footnote"><span class="footnodeNumber"><a class="Footnote_20_Symbol" id="ftn1" href="#body_ftn1">1</a></span> A note.</p>',
  ],
  Word: [
    `<a style='mso-footnote-id:ftn1' href="#_ftn1" name="_ftnref1" title=""><span class=MsoFootnoteReference><span style='mso-special-character:footnote'><![if !supportFootnotes]>[1]<![endif]></span></span></a>`,
    `<div style='mso-element:footnote-list'><br clear=all><hr align=left size=1 width="33%"><div style='mso-element:footnote' id=ftn1><p class=MsoFootnoteText><a style='mso-footnote-id:ftn1' href="#_ftnref1" name="_ftn1" title=""><span class=MsoFootnoteReference>[1]</span></a> A note.</p></div></div>`,
  ],
  'Google Docs': [
    '<sup><a href="#ftnt1" id="ftnt_ref1">[1]</a></sup>',
    '<div><p><a href="#ftnt_ref1" id="ftnt1">[1]</a><span>&nbsp;A note.</span></p></div>',
  ],
  InDesign: [
    '<span class="note"><a id="footnote-001-backlink" class="_idFootnoteLink" href="#footnote-001">1</a></span>',
    '<section class="_idFootnotes"><div class="_idFootnote" id="footnote-001"><p><a class="_idFootnoteAnchor" href="#footnote-001-backlink">1</a> A note.</p></div></section>',
  ],
  'a book': ['<a id="r1" href="#n1">*</a>', '<p id="n1"><a href="#r1">*</a>. A note.</p>'],
};

test('numbers that link to each other become notes: in Word, LibreOffice, Google Docs, InDesign and books', () => {
  for (const [program, [reference, note]] of Object.entries(NOTES)) {
    const { markdown, file_characters, losses } = htmlToMarkdown(`<p>Text${reference}.</p><p>More.</p>${note}`);
    assert.equal(markdown, 'Text[^1].\n\nMore.\n\n[^1]: A note.\n', program);
    // The page writes the numbers itself.
    assert.deepEqual([file_characters, losses], ['Text.More.Anote.'.length, []], program);
  }
});

test('a note keeps all its paragraphs, and each reference leads to its own note', () => {
  const link = (kind: string, id: number, from: string, to: string) =>
    `<a class="sdfootnote${kind}" name="sdfootnote${id}${from}" href="#sdfootnote${id}${to}"><sup>${id}</sup></a>`;
  const note = (id: number, words: string) =>
    `<div id="sdfootnote${id}"><p>${link('sym', id, 'sym', 'anc')}${words} ${id}.</p><p>More of ${id}.</p></div>`;
  assert.equal(
    markdownOf(
      `<p>One${link('anc', 1, 'anc', 'sym')} two${link('anc', 2, 'anc', 'sym')}</p>${note(1, 'Note')}${note(2, 'Note')}`,
    ),
    'One[^1] two[^2]\n\n[^1]: Note 1.\n\n    More of 1.\n\n[^2]: Note 2.\n\n    More of 2.',
  );
});

test('numbers of contents, headings and paragraphs that link to each other do not become notes', () => {
  const texts: [html: string, markdown: string][] = [
    [
      '<ul><li><a id="t1" href="#s1">1</a></li></ul><h2 id="s1"><a href="#t1">1</a> Part</h2>',
      '- [<a id="place-1"></a>1](#1-part)\n\n## [1](#place-1) Part',
    ],
    [
      '<p><a id="t1" href="#p1">1</a></p><p id="p1"><a href="#t1">1</a> A paragraph.</p>',
      '[<a id="place-1"></a>1](#place-0)\n\n[<a id="place-0"></a>1](#place-1) A paragraph.',
    ],
    [
      '<p>See<a id="a" href="#b">1</a></p><p id="b"><a href="#a">2</a> Words.</p>',
      'See[<a id="place-1"></a>1](#place-0)\n\n[<a id="place-0"></a>2](#place-1) Words.',
    ],
  ];
  for (const [html, markdown] of texts) assert.equal(markdownOf(html), markdown);
});

test('notes of a book may be in a separate chapter', () => {
  const parts = [
    { path: 'a.xhtml', html: '<p>Text<sup><a id="r1" href="notes.xhtml#n1">1</a></sup></p>' },
    { path: 'notes.xhtml', html: '<h1>Notes</h1><p><a id="n1" href="a.xhtml#r1">1</a> A note.</p>' },
  ];
  const { read, finish } = openHtmlParts(findReferences(parts), {});
  const markdown = parts.map((part) => read(part, lossList()).markdown.trim()).join('\n\n');
  assert.equal(finish(markdown), 'Text[^1]\n\n# Notes\n\n[^1]: A note.');
});

test('the time for many tags and numbers at one place is linear in their number', () => {
  const cost = (count: number) => {
    const html = `<p>${'<i>'.repeat(20)}${Array.from({ length: count }, (_, i) => `x<b><a id="a${i}" href="#b${i}">1</a></b>`).join('')}${Array.from({ length: count }, (_, i) => `<p><a id="b${i}" href="#a${i}">1</a> Note`).join('')}`;
    const before = process.cpuUsage();
    findReferences([{ path: '', html }]);
    return process.cpuUsage(before).user;
  };
  cost(500);
  const [once, eightfold] = [cost(2_000), cost(16_000)];
  assert.ok(eightfold < 30 * once, `eight times as many take ${Math.round(eightfold / once)} times the CPU`);
});
