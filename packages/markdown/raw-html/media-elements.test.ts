import assert from 'node:assert/strict';
import { test } from 'node:test';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { readPageText } from '../page-text.ts';
import { renderMarkdown } from '../render.ts';
import { sanitizeTree, writeHtml } from '../safe-html.ts';
import { parseShownHtml } from '../shown-html.ts';
import { NO_WIKI } from '../wiki-links.ts';

const ID = `attachment_${'0'.repeat(26)}`;
const WIKI = { ...NO_WIKI, wiki_id: 'wiki_1' };

function html(markdown: string): string {
  return renderMarkdown(markdown, WIKI).html.replace(/^<p>|<\/p>$/g, '');
}

test('a picture whose file is a sound or a film is a player with a link to the file', () => {
  for (const end of 'mp3 m4a ogg oga opus wav flac aac MP3'.split(' ')) {
    assert.equal(
      html(`![m](a.${end})`),
      `<audio controls preload="none" src="a.${end}"><a href="a.${end}">m</a></audio>`,
    );
  }
  for (const end of 'mp4 m4v webm ogv mov MOV'.split(' ')) {
    const shown = `<video controls preload="none" src="a.${end}"><a href="a.${end}">m</a></video>`;
    assert.equal(html(`![m](a.${end})`), shown);
    assert.equal(html(`![m][r]\n\n[r]: a.${end}`), shown);
    assert.equal(html(`<img src="a.${end}" alt="m">`), shown);
  }
  assert.equal(
    html('![](b/a%20b.mp4?x=1#t=10)'),
    '<video controls preload="none" src="b/a%20b.mp4?x=1#t=10"><a href="b/a%20b.mp4?x=1">a b.mp4</a></video>',
  );
  assert.match(html('![m|300x200](a.mp4)'), /^<video width="300" height="200" controls/);
  assert.match(
    html('![m](a.mp4 "A title")'),
    /^<figure><video [^>]*>.*<\/video><figcaption>A title<\/figcaption><\/figure>$/,
  );
  for (const other of ['a.mp4.png', 'mp4', 'a.mp4/', 'a?x=.mp4', 'a#.mp4'])
    assert.match(html(`![m](${other})`), /^<img /);
  assert.equal(html('[m](a.mp4)'), '<a href="a.mp4">m</a>', 'a link stays a link');
});

test('an attachment is a player if the file name after its id is a sound or a film', () => {
  const address = `/v1/wikis/wiki_1/attachments/${ID}`;
  assert.equal(
    html(`![m](attachment:${ID}#a%20b.mp4)`),
    `<video controls preload="metadata" src="${address}"><a href="${address}">m</a></video>`,
  );
  assert.match(html(`<audio src="attachment:${ID}#a%20b.mp3"></audio>`), />a b\.mp3<\/a><\/audio>$/);
  assert.match(html(`![m](attachment:${ID})`), /^<img /);
  assert.equal(html(`[m](attachment:${ID}#a.mp3)`), `<a href="${address}">m</a>`);
});

test('audio and video elements play only on request: autoplay, loops and scripts are removed', () => {
  assert.equal(
    html('<video src="v.mp4" autoplay loop muted poster="p.png" onplay="alert(1)" preload="auto" width=300></video>'),
    '<video width="300" controls preload="none" src="v.mp4"><a href="v.mp4">v.mp4</a></video>',
  );
  assert.equal(
    html('<audio><source src="a.ogg" type="audio/ogg"><source src="a.mp3">No player</audio>'),
    '<audio controls preload="none"><source src="a.ogg"><source src="a.mp3"><a href="a.ogg">a.ogg</a>No player</audio>',
  );
  assert.match(html('<embed src="a.mp3">'), /^<audio /);
  assert.match(html('<object data="a.mp4"></object>'), /^<video /);
  for (const address of [
    'javascript:alert(1)//.mp4',
    'data:video/mp4;base64,AAAA',
    'file:///a.mp4',
    'blob:x.mp4',
    '',
  ]) {
    assert.doesNotMatch(html(`<video src="${address}">x</video>`), /<video|src=/, address);
    if (address !== '') assert.doesNotMatch(html(`![x](${address})`), /<video|src=/, address);
  }
  assert.doesNotMatch(html('<video src="v.mp4"><source src="javascript:alert(1)"></video>'), /javascript/);
});

test('a file of another site is not requested until a reader plays it', () => {
  for (const written of ['![m](https://x.example/a.mp4)', '<video src="//x.example/a"></video>']) {
    assert.match(html(written), /^<video [^>]*preload="none"/);
  }
});

const TEXTS = [
  'a![m](a.mp4)b ~~![n](a.mp3)~~',
  '![](a.mp4#t=10)',
  '[![m](a.mp4)](b) and [<video src="a.mp4"></video>](b)',
  '<video src=" a.mp4"><a href="a.mp4">get it</a></video>',
  '<video><source src="a.ogg"><source src="a.mp4"><p>No <b>player</b></p></video>\n\nx',
  '- <audio src="a.mp3"><video src="a.mp4"></audio>\n- <img src=a.mp3>',
  `![m](attachment:${ID}#a.mp4) <object data="attachment:${ID}#b.mp3">x</object>`,
];

test('a safe page with players survives another parser and sanitizer unchanged, and its HTML reads as the same text', () => {
  for (const text of TEXTS) {
    const shown = renderMarkdown(text, WIKI);
    const parsed = unified().use(rehypeParse, { fragment: true }).parse(shown.html);
    assert.equal(writeHtml(sanitizeTree(parsed, WIKI)), shown.html, text);
    const read = readPageText(parseShownHtml(shown.html));
    assert.equal(read.text, shown.text, text);
    assert.deepEqual(
      read.blocks.map(({ form, targets }) => [form, targets]),
      shown.blocks.map(({ form, targets }) => [form, targets]),
      text,
    );
  }
});

test('a player has the same block form as a picture, and each file it plays is one target', () => {
  const { text, blocks } = renderMarkdown('a![m](a.mp4)b\n\n<video><source src="a.ogg"><source src="b.mp4"></video>');
  assert.equal(text, 'a m b\na.ogg');
  const picture = renderMarkdown('a![m](a.png)b').blocks[0];
  assert.equal(blocks[0]?.form, picture?.form);
  assert.deepEqual(
    blocks.map(({ targets }) => targets),
    [['picture a.mp4'], ['picture a.ogg', 'picture b.mp4']],
  );
});
