import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlookOf } from '../../../../test/outlook.ts';
import { ExtractError } from '../extract-error.ts';
import { isDocument } from '../file-type.ts';
import { readDocument } from '../read-document.ts';

const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(60)]);
const MESSAGE = outlookOf({
  texts: {
    '001A': 'IPM.Note',
    '0037': 'Grüße, und mehr',
    '0C1A': 'Ann Ådams',
    '0C1F': 'ann@mail.example',
    '1000': 'The pump is ready.\r\n\r\nCome on Friday.\r\n',
  },
  recipients: [{ '3001': 'Bo', '39FE': 'bo@mail.example' }],
  attachments: [
    { '3704': 'plan.pdf', '3707': 'plan.pdf', '3701': Buffer.from('%PDF-1.7') },
    { '3704': 'pump.png', '3707': 'pump.png', '3701': PNG },
  ],
});

const file = (filename: string, bytes: Uint8Array = MESSAGE, content_type = '') => ({ filename, content_type, bytes });

test('an Outlook message is read as an e-mail with its pictures, and its attachments are listed as losses', async () => {
  for (const each of [file('a.msg'), file('a', MESSAGE, 'application/vnd.ms-outlook')]) {
    assert.equal(isDocument(each), true);
    const { kind, title, markdown, pictures, losses, content_type } = await readDocument(each);
    assert.deepEqual([kind, title, content_type], ['msg', 'Grüße, und mehr', 'application/vnd.ms-outlook']);
    assert.equal(
      markdown.replace(/picture_[0-9a-f]+/, 'picture'),
      '- **From:** Ann Ådams \\<ann\\@mail.example>\n- **To:** Bo \\<bo\\@mail.example>\n- **Subject:** Grüße, und mehr\n' +
        '- **Attachments:** plan.pdf (application/octet-stream)\n\nThe pump is ready.\n\nCome on Friday.\n\n![pump.png](attachment:picture)\n',
    );
    assert.equal(pictures?.length, 1);
    assert.deepEqual(
      losses?.map(({ kind, excerpt }) => `${kind}: ${excerpt}`),
      ['embedded_object: plan.pdf (application/octet-stream)'],
    );
  }
});

test('an HTML message keeps its lists and links', async () => {
  const html = '<html><body><p>See <a href="https://x.example/">it</a>:<ul><li>é<li>two</ul></body></html>';
  const { markdown } = await readDocument(
    file('a.msg', outlookOf({ texts: { '0037': 'x', '1013': Buffer.from(html) } })),
  );
  assert.match(markdown, /See \[it\]\(https:\/\/x\.example\/\):\n\n- é\n- two\n$/);
});

test('an old Word document named .msg and a damaged message are refused with advice', async () => {
  const start = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1');
  const refused = (bytes: Uint8Array, message: RegExp) =>
    assert.rejects(
      readDocument(file('a.msg', bytes)),
      (error) => error instanceof ExtractError && message.test(error.message),
    );
  await refused(
    Buffer.concat([start, Buffer.alloc(600), Buffer.from('WordDocument', 'utf16le')]),
    /Word document .* save it/,
  );
  await refused(MESSAGE.subarray(0, 2_000), /upload/);
});
