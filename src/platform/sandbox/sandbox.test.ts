import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileFile } from '@ibid/documents/compile-file.ts';
import type { CompileInput } from '@ibid/documents/compile-input.ts';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import { until } from '../../../test/until.ts';
import { PACKAGE } from '../core/package/package-files.ts';
import { openSandbox } from './sandbox.ts';

const NO_PAGES: ReadonlyMap<string, string> = new Map();
const CORPORA = new URL('../shared/corpora/', PACKAGE);

function file(filename: string, content: string | Uint8Array): CompileInput {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { wiki_id: '', filename, content_type: '', bytes, page_path: 'docs/page' };
}

/** Returns the files in a folder of the corpora; if it is missing, six samples, the same for every folder. */
function filesOf(folder: string): CompileInput[] {
  const from = new URL(`${folder}/`, CORPORA);
  if (existsSync(from))
    return readdirSync(from).map((name) => file(name, readFileSync(new URL(encodeURIComponent(name), from))));
  return [
    file('a.md', '# One\n\n> Quote\n\n- item:\n\n`code {{x}}`\n'),
    file('deep-quote-100k.md', `${'>'.repeat(100_000)} x`),
    file('not-utf8.md', Buffer.from('# caf\xe9\n', 'latin1')),
    file('png-named.pdf', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1')),
    file('utf16.md', Buffer.from('\ufeff# Title\n\nutf-16 text\n', 'utf16le')),
    file(
      'testHTML_embedded_data_uri_js.html',
      '<html lang="en"><title>Title</title><script src="data:text/javascript,x"></script>some content',
    ),
  ];
}

/** Keeps the parser busy for seconds, without any paragraph that is expensive by itself. */
const SLOW = '- a\n'.repeat(60_000);

const pool = openSandbox();
cleanUp(() => pool.close());
const sandbox = pool.of('');

test('a file compiled in the sandbox has the same result as one compiled directly', async () => {
  const pages = new Map([['guide/setup.md', 'guide/setup']]);
  const input = { ...file('a.md', '# T\n\n[x](guide/setup.md#y)\n'), page_path: 'a' };
  const output = await sandbox.compile(input, pages);
  const { blocks, wiki_links, ...compiled } = compileFile(input, pages);
  assert.deepEqual(output, { ok: true, ...compiled });
  assert.ok(output.ok);
  assert.deepEqual([output.markdown, output.links], ['# T\n\n[x](guide/setup#y)\n', ['guide/setup.md']]);
  assert.deepEqual(await sandbox.compile(input, pages), output, 'the same input must make the same page');
  const without = await sandbox.compile(input, NO_PAGES);
  assert.ok(without.ok && without.links.length === 0, 'the pages of another upload must not be used');
});

test('files of every kind become pages, or are refused with a reason for the user', async () => {
  const outputs = await Promise.all(
    filesOf('documents').map(async (input) => [input.filename, await sandbox.compile(input, NO_PAGES)] as const),
  );
  const of = new Map(outputs);
  for (const [filename, output] of outputs) {
    if (output.ok) assert.ok(output.title !== '' && output.html !== '', `${filename} must have a title and a page`);
    else assert.match(output.message, /upload /, `the message for ${filename} must say what to do`);
  }
  const quote = of.get('deep-quote-100k.md');
  assert.ok(quote?.ok && quote.plain_reason === 'too_complex' && quote.html.startsWith('<pre>'));
  const utf16 = of.get('utf16.md');
  assert.ok(utf16?.ok && utf16.title === 'Title' && utf16.text === 'Title\nutf-16 text');
  const latin1 = of.get('not-utf8.md');
  assert.ok(latin1?.ok === false && latin1.code === 'bad_encoding');
  const png = of.get('png-named.pdf');
  assert.ok(png?.ok === false && png.code === 'unsupported_type');
  const scripted = of.get('testHTML_embedded_data_uri_js.html');
  assert.ok(scripted?.ok && scripted.html === '<p>some content</p>' && scripted.title === 'Title');
});

test('manual pages of two languages are compiled without an error', async (t) => {
  for (const folder of ['tldr/common', 'tldr/ja']) {
    const files = filesOf(folder).filter((input) => input.filename.endsWith('.md'));
    const start = performance.now();
    const outputs = await Promise.all(files.map((input) => sandbox.compile(input, NO_PAGES)));
    const seconds = (performance.now() - start) / 1_000;
    t.diagnostic(`${folder}: ${files.length} files, ${Math.round(files.length / seconds)} files/s in one process`);
    for (const [i, output] of outputs.entries()) {
      if (!existsSync(CORPORA)) continue;
      assert.ok(output.ok && output.plain_reason === '', `${files[i]?.filename} must be a page of its content`);
    }
  }
});

test('a file that takes too long is shown as plain text, and the next files are compiled', async () => {
  const impatient = openSandbox({ renderMs: 100 });
  try {
    const [slow, quick] = await Promise.all([
      impatient.of('').compile(file('slow.md', SLOW), NO_PAGES),
      impatient.of('').compile(file('quick.md', '# Quick'), NO_PAGES),
    ]);
    assert.ok(slow.ok && slow.plain_reason === 'too_slow', 'the slow file must be shown as plain text');
    assert.deepEqual([slow.markdown, slow.title, slow.html.slice(0, 12)], [SLOW, 'slow', '<pre>\n- a\n- ']);
    assert.ok(quick.ok && quick.plain_reason === '' && quick.title === 'Quick');
  } finally {
    await impatient.close();
  }
});

test('a file that takes too much memory is shown as plain text, and the service continues', async () => {
  const small = openSandbox({ memoryMb: 24 });
  try {
    const heavy = `${'- *a* **b** [c](d) `e`\n'.repeat(8_000)}`;
    const output = await small.of('').compile(file('heavy.md', heavy), NO_PAGES);
    assert.ok(output.ok && output.plain_reason === 'out_of_memory', 'the heavy file must be shown as plain text');
    assert.equal(output.text, heavy);
    const next = await small.of('').compile(file('next.md', '# Next'), NO_PAGES);
    assert.ok(next.ok && next.title === 'Next');
  } finally {
    await small.close();
  }
});

test('an internal error is reported and affects one file only', async () => {
  const faults: Error[] = [];
  const watched = openSandbox({ onError: (error) => faults.push(error) });
  try {
    const output = await watched
      .of('')
      .compile({ ...file('a.md', '# A'), filename: undefined as unknown as string }, NO_PAGES);
    assert.ok(output.ok === false && output.code === 'unreadable', 'a file that fails in every way must be refused');
    assert.deepEqual(
      faults.map((error) => error.name),
      ['TypeError'],
    );
    const next = await watched.of('').compile(file('next.md', '# Next'), NO_PAGES);
    assert.ok(next.ok && next.title === 'Next');
  } finally {
    await watched.close();
  }
});

test('a sandbox has no process before the first file or after its idle time', async () => {
  const processes = () => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
  const before = processes();
  const brief = openSandbox({ idleMs: 1 });
  assert.equal(processes(), before, 'opening a sandbox must start no process');
  await brief.of('').compile(file('a.md', '# A'), NO_PAGES);
  const output = await brief.of('').compile(file('a.md', '# B'), NO_PAGES);
  assert.ok(output.ok && output.title === 'B', 'an ended process must be replaced');
  await until('the idle processes have ended', processes, (count) => count <= before);
  await brief.close();
});

longTest('an idle pool keeps one process, and its other processes end soon', async () => {
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').trim().split(' ');
  const others = children();
  const own = () => children().filter((pid) => pid !== '' && !others.includes(pid));
  const pair = openSandbox({ processes: 2, idleMs: 600_000 });
  const compile = (workspace: string) => pair.of(workspace).compile(file('a.md', '# A'), NO_PAGES);
  try {
    await Promise.all([compile('one'), compile('other')]);
    assert.equal(own().length, 2);
    await until('one process has ended', own, ({ length }) => length === 1);
    const [last] = own();
    await compile('one');
    assert.deepEqual(own(), [last], 'the other process is still running');
  } finally {
    await pair.close();
  }
});

longTest('a process that has grown with a text is replaced at once, and a small process is kept', async () => {
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').trim().split(' ');
  const others = children();
  const own = () => children().filter((pid) => pid !== '' && !others.includes(pid));
  const frugal = openSandbox({ maxKeptMb: 140, renderMs: 10_000 });
  try {
    await frugal.of('').compile(file('small.md', '# Small'), NO_PAGES);
    const [first] = own();
    await frugal.of('').compile(file('small.md', '# Again'), NO_PAGES);
    assert.deepEqual(own(), [first]);
    const large = await frugal.of('').compile(file('large.md', '- *a* **b** [c](d)\n'.repeat(4_000)), NO_PAGES);
    assert.ok(large.ok && large.plain_reason === '', 'the text itself is rendered');
    await until('another process has started', own, (pids) => pids.length === 1 && pids[0] !== first);
    const next = await frugal.of('').compile(file('next.md', '# Next'), NO_PAGES);
    assert.ok(next.ok && next.title === 'Next');
  } finally {
    await frugal.close();
  }
});

test('several processes return the right page for each file', async () => {
  const wide = openSandbox({ processes: 2 });
  try {
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const outputs = await Promise.all(
      names.map((name) => wide.of('').compile(file(`${name}.md`, `# ${name}`), NO_PAGES)),
    );
    assert.deepEqual(
      outputs.map((output) => output.ok && output.title),
      names,
    );
  } finally {
    await wide.close();
  }
});

test('a closed sandbox refuses pending, running and new requests', async () => {
  const closing = openSandbox();
  const refused = [
    closing.of('').compile(file('slow.md', SLOW), NO_PAGES),
    closing.of('').compile(file('a.md', '# A'), NO_PAGES),
  ].map((run) => assert.rejects(run, { code: 'overloaded' }));
  await closing.close();
  await Promise.all(refused);
  await assert.rejects(closing.of('').compile(file('a.md', '# A'), NO_PAGES), { code: 'overloaded' });
});

test('the input buffer stays usable after a file is compiled', async () => {
  const pool = Buffer.from('before# Inside#after');
  const output = await sandbox.compile(file('a.md', pool.subarray(6, 14)), NO_PAGES);
  assert.ok(output.ok && output.markdown === '# Inside');
  assert.equal(pool.toString(), 'before# Inside#after');
});
