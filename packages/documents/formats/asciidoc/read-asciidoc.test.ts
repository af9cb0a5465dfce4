import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../../test/extent.ts';
import { ExtractError } from '../extract-error.ts';
import { readDocument } from '../read-document.ts';

function read(text: string) {
  return readDocument({ filename: 'a.adoc', content_type: '', bytes: Buffer.from(text) });
}

test('an AsciiDoc document keeps its structure, and links between files stay links', async () => {
  const { markdown, title, language, content_type } = await read(`= The *Title*
:lang: de
:toc:

A _word_, H~2~O, xref:other.adoc#part[Other], <<below>>, https://x.example[web] and image:icon.png[icon].footnote:[A note.]

[[below]]
== Below

[WARNING]
====
Hot.
====

.Code
[source,js]
----
const a = 1; // <1>
----
<1> the first

|===
|a |b

|1 |2 | 3
|===

. one
.. two

term:: meaning

latexmath:[x^2]

image::big.png[Big]
`);
  assert.deepEqual([title, language, content_type], ['The Title', 'de', 'text/asciidoc']);
  assert.equal(
    markdown,
    `# The **Title**

A *word*, H₂O, [Other](other.adoc#part), [Below](#below), [web](https://x.example) and ![icon](icon.png).[^1]

## Below

> **Warning**
>
> Hot.

Code

\`\`\`js
const a = 1; // (1)
\`\`\`

1. the first

| a | b |
| - | - |
| 1 | 2 |

1. one

   1. two

      term
      : meaning

$x^2$

![Big](big.png)

[^1]: A note.
`,
  );
});

test('includes never open a file: a document becomes a link, and every include is listed as lost', async () => {
  const { markdown, losses = [] } = await read(`Text
:leak: {docdir}

include::/etc/passwd[]

include::chapter.adoc[leveloffset=+1]

----
include::src/Main.java[tags=a]
----

image::https://x.example/p.png[opts=inline]

{leak} {user-home}
`);
  assert.doesNotMatch(markdown, /root:|\/work|\/home/);
  assert.match(
    markdown,
    /include: \/etc\/passwd\n\n\[chapter\.adoc\]\(chapter\.adoc\)\n\n```\ninclude: src\/Main\.java\n```/,
  );
  assert.deepEqual(
    losses.map(({ kind, excerpt }) => `${kind} ${excerpt}`),
    ['include::/etc/passwd', 'include::chapter.adoc', 'include::src/Main.java'].map(
      (line) => `embedded_object ${line}`,
    ),
  );
});

test('comments, authors and scripts are listed as lost', async () => {
  const { markdown, losses = [] } = await read(`= Title
Ann Author <ann@example.com>
v1.2

// a comment
////
a longer one
////
Text

++++
<script>alert(1)</script><b onclick="alert(1)">raw</b>
++++
`);
  assert.match(markdown, /^# Title\n\nText\n\n\*\*raw\*\*\n$/);
  assert.deepEqual(
    losses.map(({ kind, excerpt }) => [kind, excerpt.trim()]),
    [
      ['comment', 'a comment'],
      ['metadata', 'Ann Author, ann@example.com, 1.2'],
      ['script', ''],
    ],
  );
});

longTest('hostile documents end in a page or a sentence', async () => {
  const doubling = Array.from({ length: 60 }, (_, i) => `:a${i + 1}: {a${i}}{a${i}}\n`).join('');
  const texts = [
    `:a0: xxxxxxxx\n${doubling}\n{a60}`,
    Array.from({ length: 200 }, (_, i) => `${'='.repeat(4 + i)}\nx\n`).join(''),
    'include::a.adoc[]\n'.repeat(1_000),
    'ifdef::a[]\n'.repeat(10_000),
    'footnote:['.repeat(3_000),
    '*_`'.repeat(10_000),
    '|===\na|\n'.repeat(100),
  ];
  for (const text of texts) {
    const { markdown } = await read(text).catch((error) => {
      assert.ok(error instanceof ExtractError, String(error));
      return { markdown: '' };
    });
    assert.ok(markdown.length < 2 ** 20, text.slice(0, 20));
  }
  await assert.rejects(read('x'.repeat(2 ** 20 + 1)), /larger than 1 MiB; split it/);
});
