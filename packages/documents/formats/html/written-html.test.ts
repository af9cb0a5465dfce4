import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlToMarkdown } from './html.ts';

const markdownOf = (html: string) => htmlToMarkdown(html).markdown.trimEnd();

test('empty paragraphs and anchors do not change the form of a definition list', () => {
  for (const html of [
    '<dl><dt>A<dd>one<p><dt>B<dd>two<p></dl>',
    '<dl><dd><span id=i></span></dd><dt>A</dt><dd><p>one</p><span id=j></span></dd><dt>B</dt><dd><p>two</p></dd></dl>',
  ])
    assert.equal(markdownOf(html), 'A\n: one\n\nB\n: two', html);
  assert.equal(markdownOf('<dl><dt>A<dd><img src=a.png><dt>B<dd>two</dl>'), '- A\n\n  ![](a.png)\n\n- B\n\n  two');
  assert.equal(markdownOf('<dl><dt>A<dd>one<br>two</dl>'), '- A\n\n  one\\\n  two');
});

test('a single row with one header cell becomes text, and a row of header cells alone stays a table', () => {
  assert.equal(
    markdownOf('<table><tr><th>Jump to:<td><a href=a>A</a> <a href=b>B</a></table>'),
    'Jump to:\n\n[A](a) [B](b)',
  );
  assert.equal(markdownOf('<table><tr><th>A<th>B</table>'), '| A | B |\n| - | - |');
  assert.match(markdownOf('<table><caption>C</caption><tr><th>A<td>B</table>'), /^C\n\n\| A \| B \|/);
});

test('a list without items only indents, as pod2html writes it', () => {
  assert.equal(markdownOf('<ul><p>one</p><p>two</p><ul><li>a</ul><p>x</ul>'), 'one\n\ntwo\n\n- a\n\nx');
  assert.equal(markdownOf('<ul>\n<ul><li>a</ul></ul>'), '- a');
  assert.equal(markdownOf('<ul><p>x</p><li>a</ul>'), '- x\n\n- a');
});

test('the permalink symbol of a heading or caption is dropped, whatever font shows it', () => {
  for (const sign of ['¶', '#', '🔗', '\uf0c1', '\ue9cb']) {
    const link = `<a class="headerlink" href="#a" title="Permalink to this heading">${sign}</a>`;
    assert.equal(markdownOf(`<section id="a"><h1>Text${link}</h1></section>`), '# Text', sign);
    const figure = `<figure><img src="a.png" alt="A picture"><figcaption><p>A picture${link}</p></figcaption></figure>`;
    assert.equal(markdownOf(figure), '![](a.png)\n\nA picture', sign);
  }
});

test('the time for a run of empty elements is linear in its length', () => {
  assert.equal(markdownOf('<p>a<a></a><abbr> </abbr><span><a href=x></a></span>b<details></details></p>'), 'a b');
  const forms = ['<a>', '<a href="#x"></a>', '<abbr></abbr>', '<span><x-y></x-y></span>', '<details></details>'];
  const cost = (count: number) => {
    const before = process.cpuUsage();
    for (const html of forms) markdownOf(`<p>a ${html.repeat(count)}</p>`);
    return process.cpuUsage(before).user;
  };
  cost(1_000);
  const [once, fourfold] = [cost(4_000), cost(16_000)];
  assert.ok(fourfold < 12 * once, `four times as many take ${Math.round(fourfold / once)} times the CPU`);
});
