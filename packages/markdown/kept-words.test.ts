import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from './render.ts';

const html = (markdown: string) => renderMarkdown(markdown).html;

test('words in angle brackets are shown unchanged, unless they are HTML elements or have a closing tag', () => {
  for (const text of [
    'Use List<String> and <your-name> here.',
    'Map<String, List<Int>>',
    '<your-name>',
    '- run <file> <result dir>',
    'see </nothing>',
    'Array<T extends Base>',
    '# Using Vec<T>',
    '**Option<String>**',
  ])
    assert.equal(renderMarkdown(text).text, text.replace(/^(?:# |- )|\*\*/g, ''), text);
  assert.equal(renderMarkdown('| a |\n| - |\n| Vec<T> |').text, 'a\nVec<T>');
  assert.equal(renderMarkdown('<div>\nVec<T> and <name>\n</div>').text, 'Vec<T> and <name>');
  assert.equal(html('a <b>bold</b> <my-card>in a card</my-card> <u>c</u>'), '<p>a <b>bold</b> in a card <u>c</u></p>');
  assert.equal(renderMarkdown('<Tabs>\n\n~~~\ncode\n~~~\n\n</Tabs>\n').text, 'code');
  assert.doesNotMatch(html('Use <x-y onclick=alert(1)> and <img src=x onerror=alert(1)>'), /<x-y|<img[^>]*onerror/);
});

test('unquoted attribute values may contain slashes', () => {
  assert.match(html('x <a href=https://example.com/y>link</a>'), /<a href="https:\/\/example\.com\/y"[^>]*>link<\/a>/);
  assert.match(html('<img src=img/a.png alt=b/c>'), /<img src="img\/a\.png" alt="b\/c"/);
  assert.match(html('<img alt="x=y/z" src=img/a.png/>'), /<img alt="x=y\/z" src="img\/a\.png"/);
  assert.equal(renderMarkdown('    <a href=x/y>\n\n`<a href=x/y>`').text, '<a href=x/y>\n<a href=x/y>');
});

test('text after a self-closing element is shown, and a file that the element shows gets a link', () => {
  assert.equal(html('a <object data="f.pdf"/> b'), '<p>a <span><a href="f.pdf">f.pdf</a></span> b</p>');
  assert.match(
    html('<p>before</p><video src="v%201.mp4"/><p>after</p>'),
    /before.*<a href="v%201\.mp4">v 1\.mp4<\/a>.*after/,
  );
  assert.match(html('<svg width="1"/> after <math/> it'), /after {2}it/);
  assert.equal(
    html('<video controls><source src="a.mp4">No player: <a href="a.mp4">get it</a></video>'),
    '<p><video controls preload="none" src="a.mp4">No player: <a href="a.mp4">get it</a></video></p>',
  );
  assert.match(html('<object data="f.pdf"><p>Get the file</p></object>'), /href="f\.pdf".*Get the file/);
  assert.doesNotMatch(html('<object data="javascript:alert(1)">x</object>'), /href/);
});

test("an unclosed formula is text, and words after a formula's end are shown", () => {
  const open = renderMarkdown('Before\n\n$$\na = b\n\nNext.\n\n## Heading\n');
  assert.equal(open.text, 'Before\n$$ a = b\nNext.\nHeading');
  assert.equal(open.outline.length, 1);
  assert.match(html('$$\na\n$$ where *x* is\n\n## H'), /math-display">a<\/code><\/pre>\n<p>where \*x\* is<\/p>\n<h2/);
  assert.match(html('- $$\n  a\n\nb\n\n$$\nc\n$$'), /\$\$\na[\s\S]*<p>b<\/p>[\s\S]*math-display">c</);
  assert.match(
    html('> $$\n> a\n\nb\n\n$$\nc\n$$.'),
    /\$\$\na[\s\S]*<p>b<\/p>[\s\S]*math-display">c<\/code><\/pre>\n<p>\.</,
  );
  assert.match(html('```\n$$\n```\n\n$$\nc\n$$'), /math-display">c</);
});

test('front matter that YAML rejects is read line by line, and may end in dots', () => {
  const { title, tags, properties, text } = renderMarkdown(
    '---\ntitle: Part 1: Basics\ntags: [a, "b"]\nowner: @me\nlist:\n\t- one\n\t- two\n---\n\nText\n',
  );
  assert.deepEqual([title, tags, text], ['Part 1: Basics', ['a', 'b'], 'Text']);
  assert.deepEqual(properties, [
    { name: 'owner', value: '@me' },
    { name: 'list', value: 'one, two' },
  ]);
  const dots = renderMarkdown('---\ntitle: T\n...\n\nText\n\n---\n\nMore\n');
  assert.deepEqual([dots.title, dots.text], ['T', 'Text\nMore']);
  assert.equal(renderMarkdown('---\nNo field\n...\n').text, 'No field ...');
});
