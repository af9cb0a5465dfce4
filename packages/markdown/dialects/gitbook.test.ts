import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '../render.ts';

const html = (markdown: string) => renderMarkdown(markdown).html;

test('GitBook hints are callouts of their style', () => {
  for (const [style, kind] of [
    ['info', 'note'],
    ['warning', 'warning'],
    ['danger', 'caution'],
    ['success', 'tip'],
  ])
    assert.match(
      html(`Before\n{% hint style="${style}" %}\n**Hot**\n\n- a\n{% endhint %}\nAfter`),
      new RegExp(
        `^<p>Before</p>\n<blockquote class="callout ${kind}">\n<p class="callout-title">\\w+</p>\n<p><strong>Hot</strong></p>\n<ul>\n<li>a</li>\n</ul>\n</blockquote>\n<p>After</p>$`,
      ),
      style,
    );
});

test('GitBook tabs and code have their titles, and layout tags are hidden', () => {
  assert.equal(
    html(
      '{% tabs %}\n{% tab title="Linux" %}\nrun *a*\n{% endtab %}\n\n{% tab title="Mac" %}\n{% hint style="info" %}\nrun b\n{% endhint %}\n{% endtab %}\n{% endtabs %}',
    ),
    '<p><strong>Linux</strong></p>\n<p>run <em>a</em></p>\n<p><strong>Mac</strong></p>\n<blockquote class="callout note">\n<p class="callout-title">Info</p>\n<p>run b</p>\n</blockquote>',
  );
  assert.match(
    html('{% code title="a.js" lineNumbers="true" %}\n```js\nlet a;\n```\n{% endcode %}'),
    /^<p><strong>a\.js<\/strong><\/p>\n<pre><code class="language-js">/,
  );
  assert.match(html('{% code overflow="wrap" %}\n```\nx\n```\n{% endcode %}'), /^<pre><code>x\n<\/code><\/pre>$/);
  const steps =
    '{% stepper %}\n{% step %}\n## One\n\ntext\n{% endstep %}\n{% endstepper %}\n\n{% columns %}\n{% column width="50%" %}\nleft\n{% endcolumn %}\n{% endcolumns %}';
  assert.equal(renderMarkdown(steps).text, 'One\ntext\nleft');
});

test('GitBook references, files and embedded addresses are links', () => {
  assert.match(
    html('{% content-ref url="page.md" %}\n[page.md](page.md)\n{% endcontent-ref %}'),
    /^<p><a href="page\.md">page\.md<\/a><\/p>$/,
  );
  assert.match(
    html('{% embed url="https://x.example/a_b?c=1" %}'),
    /^<p><a href="https:\/\/x\.example\/a_b\?c=1"[^>]*>https:\/\/x\.example\/a_b\?c=1<\/a><\/p>$/,
  );
  assert.match(
    html('{% file src="a.pdf" %}\nThe *plan*\n{% endfile %}\n\nAfter'),
    /^<p><a href="a\.pdf">a\.pdf<\/a><br>\nThe <em>plan<\/em><\/p>\n<p>After<\/p>$/,
  );
});

test('GitBook blocks may be written in one line', () => {
  for (const [markdown, shown] of [
    ['{% content-ref url="page.md" %}[page](page.md){% endcontent-ref %}', /^<p><a href="page\.md">page<\/a><\/p>$/],
    ['{% file src="a.pdf" %}The *plan*{% endfile %}', /^<p><a href="a\.pdf">a\.pdf<\/a>\s+The <em>plan<\/em><\/p>$/],
    ['{% file src="a.pdf" caption="The plan" %}', /^<p><a href="a\.pdf">The plan<\/a><\/p>$/],
    [
      '{% hint style="warning" %}Hot *x*{% endhint %}',
      /callout warning">\n<p class="callout-title">Warning<\/p>\n<p>Hot <em>x<\/em><\/p>\n<\/blockquote>$/,
    ],
    ['{% tab title="A" %}**b** c{% endtab %}', /^<p><strong>A<\/strong><\/p>\n<p><strong>b<\/strong> c<\/p>$/],
  ] as const)
    assert.match(html(markdown), shown, markdown);
  assert.match(renderMarkdown('`{% hint style="info" %}a{% endhint %}`').text, /\{%.*%\}/);
  assert.match(renderMarkdown('    {% step %}a{% endstep %}').text, /\{%.*%\}/);
});

test('GitBook blocks in lists are read', () => {
  assert.equal(renderMarkdown('1.  a\n\n    {% columns %}\n    b\n    {% endcolumns %}').text, 'a\nb');
});

test('tags in code, unclosed tags and tags of other programs stay unchanged', () => {
  const hint = '{% hint style="info" %}\na\n{% endhint %}';
  for (const text of [
    `\`\`\`\n${hint}\n\`\`\``,
    hint.replace(/^/gm, '    '),
    '    {% step %}\n    a\n    {% endstep %}',
    `\`${hint}\``,
    '{% hint style="info" %}\na',
    'a\n{% endhint %}',
    '{% if a %}\nb\n{% endif %}',
    '{% include "a.md" %}',
    '{% tab log %}\na\n{% endtab %}',
    'Use {% hint style="info" %} here',
    '`{% embed url="https://x.example" %}`',
  ])
    assert.match(renderMarkdown(text).text, /\{%.*%\}/, text);
});
