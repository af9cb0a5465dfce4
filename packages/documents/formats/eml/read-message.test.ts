import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExtractError } from '../extract-error.ts';
import { readDocument } from '../read-document.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function read(message: string | Buffer) {
  const bytes = typeof message === 'string' ? Buffer.from(message.replaceAll('\n', '\r\n'), 'latin1') : message;
  return readDocument({ filename: 'a.eml', content_type: '', bytes });
}

function parts(boundary: string, kind: string, ...list: string[]): string {
  const body = list.map((part) => `--${boundary}\n${part}\n`).join('');
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\n\n${body}--${boundary}--\n`;
}

test('a message becomes its headers and text, decoded from every charset that it names', async () => {
  const message = await read(
    `Received: by x
From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>
To: "Doe, Jane" <jane@example.com>,
 b@example.com
Subject: =?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=
Date: Mon, 1 Jan 2024 10:00:00 +0100
Content-Type: text/plain; charset=windows-1252
Content-Transfer-Encoding: quoted-printable

Sch=F6n =80 5=

> quoted
`,
  );
  assert.equal(message.title, '日本語');
  assert.equal(
    message.markdown,
    '- **From:** Jürgen \\<j\\@example.com>\n- **To:** Doe, Jane \\<jane\\@example.com>, b\\@example.com\n- **Date:** Mon, 1 Jan 2024 10:00:00 +0100\n- **Subject:** 日本語\n\nSchön € 5\n\\> quoted\n'.replace(
      '5\n\\>',
      '5\\\n\\>',
    ),
  );
  assert.deepEqual([message.losses, message.content_type], [[], 'message/rfc822']);
});

test('HTML is used if it has more structure than the text, with the pictures that it shows', async () => {
  const rich = '<p>Text</p><ul><li>one</ul><img src="cid:pic@1" alt="it"><img src="https://tracker.example/x.png">';
  const picture = `Content-Type: image/png\nContent-ID: <pic@1>\nContent-Transfer-Encoding: base64\n\n${PIXEL}`;
  const both = (html: string) =>
    parts(
      'alt',
      'alternative',
      'Content-Type: text/plain\n\nText',
      `Content-Type: text/html; charset=utf-8\n\n${html}`,
    );
  const { markdown, pictures = [] } = await read(`From: a@b.c\n${parts('rel', 'related', both(rich), picture)}`);
  assert.equal(pictures.length, 1);
  assert.match(markdown, new RegExp(`Text\\n\\n- one\\n\\n!\\[it\\]\\(attachment:${pictures[0]?.name}\\)`));
  assert.doesNotMatch(markdown, /tracker/, 'what is fetched when a mail is read is not shown');
  assert.match((await read(`From: a@b.c\n${both('<div>Text</div>')}`)).markdown, /\n\nText\n$/);
});

test('nested messages follow their message, pictures are shown, and other attachments are named and listed as lost', async () => {
  const {
    markdown,
    losses = [],
    pictures = [],
  } = await read(
    `From: a@b.c\nSubject: Outer\n${parts(
      'mix',
      'mixed',
      'Content-Type: text/plain\n\nOuter text',
      'Content-Type: message/rfc822\n\nFrom: c@d.e\nSubject: Inner\n\nInner text',
      `Content-Type: image/png; name=pic.png\nContent-Transfer-Encoding: base64\n\n${PIXEL}`,
      "Content-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf\n\n%PDF",
    )}`,
  );
  assert.match(markdown, /\*\*Attachments:\*\* résumé\.pdf \(application\/pdf\)\n\nOuter text\n\n!\[pic\.png\]/);
  assert.match(markdown, /\n\n## Inner\n\n- \*\*From:\*\* c\\@d\.e\n- \*\*Subject:\*\* Inner\n\nInner text\n$/);
  assert.equal(pictures.length, 1);
  assert.deepEqual(
    losses.map(({ kind, excerpt }) => [kind, excerpt]),
    [['embedded_object', 'résumé.pdf (application/pdf)']],
  );
});

test('characters that cannot be decoded are counted, and hostile messages are refused with a message', async () => {
  const { losses = [] } = await read('From: a@b.c\nContent-Type: text/plain; charset=utf-8\n\nbad \xff\xfe\n');
  assert.deepEqual(
    losses.map(({ kind, count }) => [kind, count]),
    [['decoding', 2]],
  );
  const nested = Array.from({ length: 300 }, (_, i) => parts(`b${i}`, 'mixed').split('--\n')[0]);
  for (const message of [
    'hello\n\nworld',
    nested.join(`\n--b\n`),
    `From: a@b.c\nX: ${'y'.repeat(3 * 2 ** 20)}\n\nhi`,
  ]) {
    await assert.rejects(
      read(message),
      (error) => error instanceof ExtractError && /save .* again/.test(error.message),
    );
  }
  const deep = Array.from({ length: 300 }, (_, i) => `Subject: ${i}\nContent-Type: message/rfc822\n\n`).join('');
  const { losses: left_out = [] } = await read(`From: a@b.c\n${deep}Subject: last\n\nhi`);
  assert.deepEqual(
    left_out.map(({ kind, count }) => [kind, count]),
    [['embedded_object', 1]],
  );
});
