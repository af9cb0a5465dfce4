import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExtractError } from '../extract-error.ts';
import { readDocument } from '../read-document.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function read(notebook: unknown) {
  const bytes = Buffer.from(typeof notebook === 'string' ? notebook : JSON.stringify(notebook));
  return readDocument({ filename: 'a.ipynb', content_type: '', bytes });
}

function code(source: unknown, ...outputs: unknown[]) {
  return { cell_type: 'code', metadata: {}, execution_count: 1, source, outputs };
}

function output(data: Record<string, unknown>) {
  return { output_type: 'display_data', metadata: {}, data };
}

async function cells(...list: unknown[]) {
  return read({ nbformat: 4, nbformat_minor: 5, metadata: { language_info: { name: 'python' } }, cells: list });
}

test('Markdown cells stay unchanged, code has the language of the kernel, and its output follows', async () => {
  const { markdown, content_type } = await cells(
    { cell_type: 'markdown', source: ['# Title\n', 'With $x^2$.'] },
    code(
      'print("```")',
      { output_type: 'stream', name: 'stdout', text: ['10 %\r20 %\r', '\x1b[31mdone\x1b[0m\n'] },
      { output_type: 'stream', name: 'stderr', text: 'a warning\n' },
    ),
    code('1 / 0', { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\x1b[0;31mE\x1b[0m: v'] }),
    { cell_type: 'raw', source: 'raw' },
  );
  assert.equal(
    markdown,
    '# Title\nWith $x^2$.\n\n````python\nprint("```")\n````\n\n```\ndone\na warning\n```\n\n```python\n1 / 0\n```\n\n```\nE: v\n```\n\n```\nraw\n```\n',
  );
  assert.equal(content_type, 'application/x-ipynb+json');
});

test('pictures of outputs and cells become pictures of the page, HTML tables become tables, LaTeX becomes formulas', async () => {
  const { markdown, pictures, losses } = await cells(
    { cell_type: 'markdown', source: '![it](attachment:a.png)', attachments: { 'a.png': { 'image/png': PIXEL } } },
    code('plot()', output({ 'image/png': PIXEL, 'text/plain': '<Figure size 640x480>' })),
    code('df', output({ 'text/html': '<table><tr><th>a</th></tr><tr><td>1</td></tr></table>', 'text/plain': 'a\n1' })),
    code('x', output({ 'text/latex': '$\\displaystyle x^{2}$', 'text/plain': 'x**2' })),
    code('note', output({ 'text/markdown': '**note**', 'text/plain': '<Markdown>' })),
    code('html', output({ 'text/html': '<p>only <b>HTML</b></p>' })),
  );
  const [picture, another] = pictures ?? [];
  assert.ok(picture && !another, 'the same picture is one');
  assert.deepEqual(picture.bytes, Buffer.from(PIXEL, 'base64'));
  const shown = markdown.split('\n\n').filter((block) => !block.startsWith('```'));
  assert.deepEqual(shown, [
    `![it](attachment:${picture.name})`,
    `![Figure size 640x480](attachment:${picture.name})`,
    '| a |\n| - |\n| 1 |',
    '$$\nx^{2}\n$$',
    '**note**',
    'only **HTML**\n',
  ]);
  assert.deepEqual(losses, []);
});

test('outputs that only a program can show are listed as lost, with their cell', async () => {
  const { losses = [] } = await cells(
    code(
      'x',
      output({ 'application/vnd.jupyter.widget-view+json': {}, 'text/plain': 'HBox()' }),
      output({ 'application/vnd.plotly.v1+json': {} }),
    ),
    code('y', output({ 'image/svg+xml': '<svg/>', 'text/plain': '<Figure>' })),
    { cell_type: 'markdown', source: '![](attachment:gone.png)' },
  );
  assert.deepEqual(
    losses.map(({ kind, place, excerpt }) => [kind, place, excerpt]),
    [
      ['embedded_object', 'cell 1', 'widget HBox()'],
      ['embedded_object', 'cell 1', 'application/vnd.plotly.v1+json'],
      ['picture', 'cell 2', '<Figure>'],
      ['picture', 'cell 3', 'gone.png'],
    ],
  );
});

test('an unclosed fence or comment ends with its cell, and a cell does not become front matter', async () => {
  const { markdown } = await cells(
    { cell_type: 'markdown', source: '---\ntitle: no\n---' },
    { cell_type: 'markdown', source: '```\nopen' },
    { cell_type: 'markdown', source: 'end <!-- open' },
    { cell_type: 'markdown', source: 'last' },
  );
  assert.equal(markdown, '***\ntitle: no\n---\n\n```\nopen\n```\n\nend <!-- open\n-->\n\nlast\n');
  const raw = await cells({ cell_type: 'raw', source: '---\ntitle: Said\n---\n' }, code('1'));
  assert.match(raw.markdown, /^---\ntitle: Said\n---\n\n```python/);
});

test('a notebook of nbformat 3 is read like a current notebook', async () => {
  const { markdown } = await read({
    nbformat: 3,
    metadata: {},
    worksheets: [
      {
        cells: [
          { cell_type: 'heading', level: 2, source: 'Old' },
          {
            cell_type: 'code',
            language: 'python',
            input: ['print(1)'],
            outputs: [
              { output_type: 'stream', text: '1\n' },
              { output_type: 'pyout', text: ['2'] },
              { output_type: 'pyerr', ename: 'E', evalue: 'v' },
            ],
          },
        ],
      },
    ],
  });
  assert.equal(markdown, '## Old\n\n```\nprint(1)\n```\n\n```\n1\n```\n\n```\n2\n```\n\n```\nE: v\n```\n');
});

test('a file that is not a notebook is refused with advice, and fields of the wrong type are ignored', async () => {
  for (const text of ['{"cells": [', '['.repeat(1e6), 'null', '[]', '{}', '"x"', '{"cells": 1}']) {
    await assert.rejects(
      read(text),
      (error) => error instanceof ExtractError && /^the notebook .* and upload it again$/.test(error.message),
      text.slice(0, 20),
    );
  }
  await assert.rejects(read({ nbformat: 5, cells: [] }), /newer version \(nbformat 5\)/);
  const odd = [null, 1, { cell_type: 5, source: {} }, code([1], null, { data: [1] }, output({ 'image/png': '!' }))];
  const { markdown } = await cells(...odd, { cell_type: 'markdown', source: 'text', attachments: [] });
  assert.equal(markdown, 'text\n');
});
