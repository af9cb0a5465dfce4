import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { type PageInput, plainPage } from '@ibid/markdown/render.ts';
import { framesOf } from './frames.ts';
import type { Requester } from './rendering/limits.ts';
import { pageFrame } from './rendering/messages.ts';
import { readResponse } from './rendering/responses.ts';
import { openSandbox } from './sandbox.ts';

const page = (markdown: string): PageInput => ({ wiki_id: 'wiki', markdown, page_path: 'x', pagesByTarget: new Map() });
const LONG = page('- a *word*\n'.repeat(150));
const SHORT = page('# Short\n');

const NO_LIMIT = { requests: 1_000, bytes: 2 ** 40, cpuMs: 10 ** 9, cpuMsPerSecond: 1 };
const UNLIMITED = { workspace: NO_LIMIT, person: NO_LIMIT, service: NO_LIMIT };

function by(workspace_id: string, kind: Requester['kind'] = 'preview'): Requester {
  return { kind, workspace_id, user_id: `a user of ${workspace_id}` };
}

test('a preview and a save do not wait for the 100 queued previews of another workspace', async () => {
  const pool = openSandbox({ processes: 2, perWorkspace: 1, limits: UNLIMITED });
  try {
    await Promise.all(['many', 'single'].map((name) => pool.renderPage(SHORT, by(name))));
    let done = 0;
    const many = Array.from({ length: 100 }, async () => {
      await pool.renderPage(LONG, by('many'));
      done += 1;
    });
    for (const kind of ['preview', 'save'] as const) {
      const before = done;
      await pool.renderPage(SHORT, by('single', kind));
      assert.ok(done - before <= 3, `${done - before} previews came before the ${kind}`);
    }
    assert.ok(done < 90, 'the many must still be waiting');
    await Promise.all(many);
  } finally {
    await pool.close();
  }
});

test('in a pool that one workspace may fill, a file of another workspace waits for only a few of its files', async () => {
  const pool = openSandbox({ processes: 1 });
  try {
    const order: string[] = [];
    const compile = async (workspace_id: string) => {
      const file = {
        wiki_id: workspace_id,
        filename: 'a.md',
        content_type: '',
        bytes: Buffer.from('# A'),
        page_path: 'a',
      };
      await pool.of(workspace_id).compile(file, new Map());
      order.push(workspace_id);
    };
    await Promise.all([...Array.from({ length: 60 }, () => 'many'), 'single'].map(compile));
    assert.ok(order.indexOf('single') <= 7, order.join(' '));
  } finally {
    await pool.close();
  }
});

test('a save runs before the queued previews of its workspace', async () => {
  const pool = openSandbox({ limits: UNLIMITED });
  try {
    const order: string[] = [];
    const ask = async (kind: Requester['kind']) => {
      await pool.renderPage(SHORT, by('w', kind));
      order.push(kind);
    };
    await Promise.all([...Array.from({ length: 10 }, () => 'preview' as const), 'save' as const].map(ask));
    assert.equal(order.indexOf('save'), 1, 'right after the task that had started');
  } finally {
    await pool.close();
  }
});

test('a request whose client has disconnected leaves the queue at once, and does not delay the next one', async () => {
  const pool = openSandbox({ limits: UNLIMITED });
  try {
    await pool.renderPage(SHORT, by('w'));
    const gone = new AbortController();
    // Takes more CPU time than the test could wait for.
    const endless = page('- a\n'.repeat(300_000));
    const left = Array.from({ length: 5 }, () => pool.renderPage(endless, by('w'), gone.signal));
    const refused = left.map((each) => assert.rejects(each, /the client went away/));
    const next = pool.renderPage(SHORT, by('w'));
    gone.abort(new Error('the client went away'));
    await Promise.all(refused);
    assert.equal((await next).title, 'Short');
    const { pending, cpuSeconds } = pool.stats.spending.preview;
    assert.equal(pending, 0);
    assert.ok(cpuSeconds > 0);
  } finally {
    await pool.close();
  }
});

test('a malformed response of a process is refused', async () => {
  const rendered = plainPage('# Plain\n\ntext\n', 'too_slow');
  const { value: frame } = await framesOf(Readable.from([pageFrame(rendered)]), 2 ** 20).next();
  assert.ok(frame);
  assert.deepEqual(readResponse(frame), { is: 'page', page: rendered });
  const { sizes, page: sent } = frame.header as { sizes: number[]; page: { html: number } };
  const forged: unknown[] = [
    { ...(frame.header as object), is: 'file' },
    { is: 'page', sizes: sizes.slice(1), page: sent },
    { is: 'page', sizes, page: { ...sent, html: 99 } },
    { is: 'page', sizes, page: { ...sent, html: '<script>' } },
    { is: 'page', sizes, page: { ...sent, title: 'x'.repeat(300) } },
    { is: 'page', sizes: [], page: sent },
    { is: 'refusal', code: 1 },
    null,
    'page',
  ];
  for (const header of forged)
    assert.equal(readResponse({ header, body: frame.body }), undefined, JSON.stringify(header));
});
