import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '../render.ts';

const html = (markdown: string) => renderMarkdown(markdown).html;

test("alerts of GitHub are callouts with their kind's name as the title", () => {
  assert.equal(
    html('> [!NOTE]\n> Some *text*.\n>\n> - more\n'),
    '<blockquote class="callout note">\n<p class="callout-title">Note</p>\n<p>Some <em>text</em>.</p>\n<ul>\n<li>more</li>\n</ul>\n</blockquote>',
  );
  assert.match(
    html('> [!WARNING]\n> Hot.'),
    /class="callout warning">\n<p class="callout-title">Warning<\/p>\n<p>Hot\.</,
  );
  assert.match(html('> [!CAUTION]  \n> Hot.'), /class="callout caution">/);
});

test('callouts of Obsidian have a title of their own, and those that fold are details', () => {
  assert.match(
    html('> [!faq]- Are they *folded*?\n> Yes.\n'),
    /^<details class="callout important">\n<summary class="callout-title">Are they <em>folded<\/em>\?<\/summary>\n<p>Yes\.<\/p>\n<\/details>$/,
  );
  assert.match(html('> [!tip]+\n> Open.'), /^<details class="callout tip" open>\n<summary class="callout-title">Tip</);
  assert.match(
    html('> [!whatever] Title only'),
    /class="callout note">\n<p class="callout-title">Title only<\/p>\n<\/blockquote>/,
  );
  assert.match(html('> [!tip]\n> > [!bug]\n> > inner'), /callout tip[\s\S]*callout caution[\s\S]*inner/);
});

test('other quotes stay quotes, and what a page contains cannot take classes of the application', () => {
  for (const quote of ['> NOTE', '> [!]', '> [!div class="x"]', '> [!NOTE]text', '> `[!NOTE]`', '[!NOTE]'])
    assert.doesNotMatch(html(quote), /callout/, quote);
  assert.doesNotMatch(html('> [!note]\n\n[!note]: https://x.example'), /callout/, 'a link that the document defines');
  assert.equal(
    html('<blockquote class="callout header note x">a</blockquote>'),
    '<blockquote class="callout note">a</blockquote>',
  );
  assert.doesNotMatch(html('> [!note] <script>alert(1)</script>\n> <img src=x onerror=alert(1)>'), /<script|onerror/);
});

test('the text of a callout is found and cited with its title, on its lines', () => {
  const { text, blocks } = renderMarkdown('# A\n\n> [!NOTE]\n> One.\n> Two.\n\nThree.\n');
  assert.equal(text, 'A\nNote\nOne. Two.\nThree.');
  assert.deepEqual(
    blocks.map(({ start, end }) => text.slice(start, end)),
    ['A', 'Note\nOne. Two.', 'Three.'],
  );
});

test('highlights are marked and comments are left out, between words and not in code', () => {
  assert.equal(
    html('An ==important== word, ==two words==.'),
    '<p>An <mark>important</mark> word, <mark>two words</mark>.</p>',
  );
  assert.equal(html('Shown %%not shown%% again.'), '<p>Shown  again.</p>');
  assert.doesNotMatch(renderMarkdown('Shown %%not\nshown%% again.').text, /not/);
  for (const text of [
    'a == b and c == d',
    'x==y==z',
    'for %%i in (*) do echo %%i',
    '100%% of 20%% more',
    '`==a==` `%%b%%`',
  ])
    assert.doesNotMatch(html(text), /<mark|<p><\/p>/, text);
  assert.match(html('for %%i in (*) do echo %%i'), /for %%i in \(\*\) do echo %%i/);
  assert.match(html('`%%b%%`'), /%%b%%/);
});
