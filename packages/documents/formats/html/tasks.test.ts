import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlToMarkdown } from './html.ts';

test('tasks keep their state, whichever program wrote them', () => {
  for (const html of [
    '<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"> open</li></ul>',
    '<ul><li><label><input type=checkbox checked=""> done</label></li><li><label> <input type=checkbox> open</label></li></ul>',
    '<ul class="inline-task-list"><li class="checked">done</li><li>open</li></ul>',
    '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span class="to-do-children-checked">done</span></li><li><div class="checkbox checkbox-off"></div> <span>open</span></li></ul>',
    '<ul><li data-tag="to-do:completed">done</li><li data-tag="important,to-do">open</li></ul>',
  ]) {
    const { markdown, losses } = htmlToMarkdown(`<h1>T</h1>${html}`);
    assert.match(markdown, /\[x\] done\n+[-*] \[ \] open/, html);
    assert.deepEqual(losses, [], html);
  }
  const { markdown } = htmlToMarkdown('<p data-tag="to-do:completed">done</p><p>text</p>');
  assert.match(markdown, /^[-*] \[x\] done\n\ntext/);
});

test('text after and inside of embedded objects and media is kept, with a link to the file', () => {
  for (const name of ['object data', 'video src', 'audio src', 'iframe src']) {
    const { markdown } = htmlToMarkdown(`<p>before</p><${name}="f.bin" type="a/b"/><p>after it</p>`);
    assert.match(markdown, /before[\s\S]*after it/, name);
  }
  const { markdown, losses } = htmlToMarkdown(
    '<object data="f.pdf"><p>Get the <a href="https://example.com/f.pdf">file</a></p></object><video><source src="v.mp4">No player</video>',
  );
  assert.match(
    markdown,
    /\[f\.pdf\]\(f\.pdf\)[\s\S]*Get the \[file\]\(https:\/\/example\.com\/f\.pdf\)[\s\S]*\[v\.mp4\]\(v\.mp4\)[\s\S]*No player/,
  );
  assert.deepEqual(
    losses.map(({ kind, excerpt }) => [kind, excerpt]),
    [
      ['embedded_object', 'f.pdf'],
      ['embedded_object', 'v.mp4'],
    ],
  );
});
