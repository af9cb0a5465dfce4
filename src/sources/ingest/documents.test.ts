import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { odfOf, pptxOf, shapeOf, xlsxOf } from '../../../test/office.ts';
import { outlookOf } from '../../../test/outlook.ts';
import { jpegImage, pdfOf, pixelImage } from '../../../test/pdf.ts';
import { type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import { docxOf, wordParagraph, zipOf } from '../../../test/zip.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Citation } from '../records/schema.ts';

const world = await openWorld();
const CORPORA = new URL('../shared/corpora/documents/', PACKAGE);

/** The shared corpus of real documents or, if it is missing, a document of each format. */
function documents(): Record<string, Buffer> {
  if (existsSync(CORPORA)) {
    return Object.fromEntries(readdirSync(CORPORA).map((name) => [name, readFileSync(new URL(name, CORPORA))]));
  }
  return {
    'tracemonkey.pdf': pdfOf([[['Trace-based compilation', 50, 700, 20]]]),
    'simple-list.docx': docxOf(wordParagraph('Apple')),
    'empty.pdf': pdfOf([[]]),
    'testWORD_truncated.docx': docxOf(wordParagraph('x')).subarray(0, 500),
  };
}

async function errors(upload_id: string): Promise<Map<string, string>> {
  const rows = await world.db.query<{ filename: string; error: string }>(sql`
    select filename, error from upload_files where upload_id = ${upload_id} and kind = 'file'`);
  return new Map(rows.map(({ filename, error }) => [filename, error]));
}

async function page(owner: Owner, path: string) {
  const { status, body } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/${path}`);
  assert.equal(status, 200, `there must be a page ${path}`);
  return body;
}

longTest('every document becomes a page, or fails alone with a reason that says what to do', async (t) => {
  const owner = await world.owner();
  const files = documents();
  const started = performance.now();
  const { body: upload } = await world.upload(owner, owner.wiki_id, files);
  t.diagnostic(`${Object.keys(files).length} documents in ${Math.round(performance.now() - started)} ms`);
  assert.equal(upload.status, 'completed');
  const found = await errors(upload.upload_id);
  assert.equal(found.size, Object.keys(files).length);
  for (const [filename, error] of found) {
    if (error !== '') assert.match(error, /^\w+: .*(?:upload|pack|split|save)/, `${filename} must say what to do`);
  }
  assert.match(found.get('empty.pdf') ?? '', /^empty_file: the PDF contains no text \(it may be a scan\)/);
  assert.match(found.get('testWORD_truncated.docx') ?? '', /^unreadable: the Word \(\.docx\) file is damaged/);
  const { body: sources } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources?limit=100`);
  const types = new Map(
    sources.map((each: { filename: string; content_type: string }) => [each.filename, each.content_type]),
  );
  assert.equal(types.get('tracemonkey.pdf'), 'application/pdf');
  assert.equal(
    types.get('simple-list.docx'),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  );
});

longTest('pictures of a document become attachments of its page, and keep their ids on the next upload', async () => {
  const owner = await world.owner();
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const body = (text: string) =>
    `${wordParagraph(text)}<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="i1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
  const relation =
    '<Relationship Id="i1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/pixel.png"/>';
  const document = (text: string) => docxOf(body(text), relation, [['word/media/pixel.png', pixel]]);
  await world.upload(owner, owner.wiki_id, { 'paper.docx': document('One') });
  const first = await page(owner, 'paper');
  const { body: attachments } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${first.page_id}/attachments`);
  assert.equal(attachments.length, 1);
  const [{ attachment_id, content_type, byte_size }] = attachments;
  assert.deepEqual([content_type, byte_size], ['image/png', pixel.length]);
  assert.equal(first.markdown, `One\n\n![](attachment:${attachment_id})\n`);
  await world.upload(owner, owner.wiki_id, { 'paper.docx': document('Two') });
  const second = await page(owner, 'paper');
  assert.equal(second.markdown, `Two\n\n![](attachment:${attachment_id})\n`);
});

test('pictures of a PDF become attachments that can be opened, and citations name their PDF pages', async () => {
  const owner = await world.owner();
  const pdf = (text: string) =>
    pdfOf(
      [[[text, 50, 780, 20]], [['Its second page.', 50, 780]]],
      [[['Colors', 50, 560, 200, 150]], [['Photo', 50, 560, 200, 150]]],
      { Colors: pixelImage(120, 90, (x, y) => [2 * x, 2 * y, 100]), Photo: jpegImage(120, 90) },
    );
  await world.upload(owner, owner.wiki_id, { 'report.pdf': pdf('One') });
  const first = await page(owner, 'report');
  const { body: attachments } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${first.page_id}/attachments`);
  const idOf = (type: string) =>
    attachments.find(({ content_type }: { content_type: string }) => content_type === type)?.attachment_id;
  const markdown = (text: string) =>
    `# ${text}\n\n![](attachment:${idOf('image/png')})\n\nIts second page.\n\n![](attachment:${idOf('image/jpeg')})\n`;
  assert.equal(first.markdown, markdown('One'));
  for (const { attachment_id, content_type, byte_size } of attachments) {
    const answer = await fetch(`${world.address}/v1/wikis/${owner.wiki_id}/attachments/${attachment_id}`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    assert.equal(answer.headers.get('content-type'), content_type);
    assert.equal((await answer.arrayBuffer()).byteLength, byte_size);
  }
  const { body: citations } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${first.page_id}/citations`);
  assert.deepEqual(
    citations.map(({ quote, first_page, last_page, verified }: Citation) => [quote, first_page, last_page, verified]),
    [
      ['One', 1, 1, true],
      ['Its second page.', 2, 2, true],
    ],
  );
  await world.upload(owner, owner.wiki_id, { 'report.pdf': pdf('Two') });
  assert.equal((await page(owner, 'report')).markdown, markdown('Two'), 'the same pictures are the same attachments');
  const { body: after } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${first.page_id}/attachments`);
  assert.deepEqual(after, attachments);
});

test('notebooks, messages and AsciiDoc become pages with pictures, and link to each other', async () => {
  const owner = await world.owner();
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const output = { output_type: 'display_data', data: { 'image/png': pixel, 'text/plain': 'a plot' } };
  const cells = [{ cell_type: 'code', source: 'plot()', outputs: [output] }];
  await world.upload(owner, owner.wiki_id, {
    'docs/guide.adoc':
      '= Guide\n\nSee xref:sub/more.adoc#_a_part[more] and link:run.ipynb[it].\n\nimage::pic.png[Pic]\n',
    'docs/sub/more.adoc': '= More\n\n== A part\n\ninclude::../guide.adoc[]\n',
    'docs/run.ipynb': JSON.stringify({ nbformat: 4, metadata: { kernelspec: { language: 'R' } }, cells }),
    'docs/mail.eml': 'From: a@example.com\r\nSubject: Hello\r\n\r\nA message.\r\n',
    'docs/pic.png': Buffer.from(pixel, 'base64'),
  });
  const guide = await page(owner, 'docs/guide');
  assert.match(
    guide.markdown,
    /See \[more\]\(sub\/more#a-part\) and \[it\]\(run\)\.\n\n!\[Pic\]\(attachment:attachment_\w+\)\n$/,
  );
  const more = await page(owner, 'docs/sub/more');
  assert.match(more.markdown, /\[\.\.\/guide\.adoc\]\(\.\.\/guide\)/);
  const run = await page(owner, 'docs/run');
  assert.match(run.markdown, /^```R\nplot\(\)\n```\n\n!\[a plot\]\(attachment:attachment_\w+\)\n$/);
  const mail = await page(owner, 'docs/mail');
  assert.deepEqual([mail.title, mail.markdown.split('\n\n').at(-1)], ['Hello', 'A message.\n']);
});

test('a text is decoded by its declared encoding, also within a ZIP, and the encoding is never guessed', async () => {
  const owner = await world.owner();
  const text = Buffer.from('93fa967b8cea0a', 'hex');
  const send = async (type: string, name: string, bytes: Buffer, encoding?: string) => {
    const form = new FormData();
    form.append('files', new Blob([new Uint8Array(bytes)], { type }), name);
    if (encoding !== undefined) form.append('encoding', encoding);
    const answer = await owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form });
    if (answer.status === 201) await waitForUpload(owner, owner.wiki_id, answer.body.upload_id);
    return answer;
  };
  const type = 'text/plain; charset=shift_jis';
  await send(type, 'typed.txt', text);
  await send('text/markdown; charset=Shift_JIS', 'typed.md', text);
  await send('text/csv; charset=shift_jis', 'typed-table.csv', text);
  await send('', 'named.txt', text, 'shift_jis');
  await send('application/zip', 'packed.zip', zipOf([['inside.txt', text]]), 'shift_jis');
  for (const path of ['typed', 'named', 'inside', 'typed-table']) {
    assert.match((await page(owner, path)).markdown, /日本語/, path);
  }
  const guessed = await send('text/plain', 'guessed.txt', text);
  assert.match((await errors(guessed.body.upload_id)).get('guessed.txt') ?? '', /^bad_encoding: .*set its encoding/);
  assert.equal((await send('', 'a.txt', text, 'klingon')).status, 400);
});

longTest('a CSV file becomes a table, a large one its first rows, and all of its text can be found', async () => {
  const owner = await world.owner();
  const rows = Array.from({ length: 3_000 }, (_, i) => `${i},"name, ${i}",zebra${i}\n`).join('');
  const huge = `id,value\n${'1,"a value"\n'.repeat(1_500_000)}`;
  const { body: upload } = await world.upload(owner, owner.wiki_id, {
    'huge.csv': huge,
    'small.csv': 'name;size\n"a ""b"" | c";1\n\n;2\n',
    'large.csv': `number,name,animal\n${rows}`,
    'broken.csv': 'a,b\n"never closed,1\n',
  });
  const small = await page(owner, 'small');
  assert.equal(small.markdown, '| name | size |\n| - | - |\n| a "b" \\| c | 1 |\n| | 2 |\n');
  const shown = await page(owner, 'huge');
  assert.match(shown.markdown, /This page shows the first 1,000 of about 1,500,000 rows; the file has them all\.\n$/);
  const large = await page(owner, 'large');
  assert.match(large.markdown, /\| 999 \| name, 999 \| zebra999 \|\n\nThis page shows the first 1,000 of 3,000 rows; /);
  const { body: hits } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/search?query=zebra2999`);
  assert.deepEqual(
    hits.map(({ filename }: { filename: string }) => filename),
    ['large.csv'],
  );
  const found = await errors(upload.upload_id);
  assert.match(found.get('broken.csv') ?? '', /^unreadable: a quote in the CSV file is never closed/);
});

test('PowerPoint, Excel, OpenDocument, RTF and Outlook files become pages with citations', async () => {
  const owner = await world.owner();
  const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const { body: upload } = await world.upload(owner, owner.wiki_id, {
    'talk.pptx': pptxOf([{ shapes: shapeOf('title', 'A talk') + shapeOf('body', 'The pump is ready') }]),
    'stock.xlsx': xlsxOf([
      { name: 'Stock', rows: '<row><c t="str"><v>Part</v></c></row><row><c t="str"><v>Pipe of copper</v></c></row>' },
    ]),
    'letter.odt': odfOf('text', '<text:h text:outline-level="1">A letter</text:h><text:p>The valve is open</text:p>'),
    'list.ods': odfOf(
      'spreadsheet',
      `<table:table table:name="List"><table:table-row>${cell('Part')}</table:table-row><table:table-row>${cell('Lid of iron')}</table:table-row></table:table>`,
    ),
    'show.odp': odfOf(
      'presentation',
      '<draw:page><draw:frame><draw:text-box><text:p>The tank is full</text:p></draw:text-box></draw:frame></draw:page>',
    ),
    'old.rtf': Buffer.from(String.raw`{\rtf1\ansi The meter caf\'e9 runs\par}`),
    'mail.msg': outlookOf({ texts: { '0037': 'A mail', '0C1A': 'Ann', '1000': 'The road is free' } }),
  });
  assert.equal(upload.status, 'completed');
  assert.deepEqual([...(await errors(upload.upload_id)).values()].filter(Boolean), []);
  for (const [path, words] of [
    ['talk', 'The pump is ready'],
    ['stock', 'Pipe of copper'],
    ['letter', 'The valve is open'],
    ['list', 'Lid of iron'],
    ['show', 'The tank is full'],
    ['old', 'The meter café runs'],
    ['mail', 'The road is free'],
  ] as const) {
    const { page_id, markdown } = await page(owner, path);
    assert.match(markdown, new RegExp(words));
    const { body: citations } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}/citations`);
    assert.ok(citations.length > 0, path);
    assert.ok(
      citations.every((citation: Citation) => citation.verified),
      path,
    );
  }
});
