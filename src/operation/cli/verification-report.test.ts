import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { openWorld } from '../../../test/world.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { sql } from '../../platform/db/sql.ts';
import { openFolderBlobs } from '../../platform/providers/storage/folder-blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import { openReport, openReportKey } from './verification-report.ts';
import { verifySources } from './verify.ts';

const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-report-'));
const world = await openWorld({ DATA_DIR });
const [sandbox, reader] = [openSandbox(), openDocumentReader()];
cleanUp(async () => {
  await Promise.all([sandbox.close(), reader.close()]);
  await rm(DATA_DIR, { recursive: true, force: true });
});
const owner = await world.owner();
await world.upload(owner, owner.wiki_id, {
  'a.md': '# A 😀\n\nOne.\n',
  'b.md': '# B\n\n| x | y |\n| - | - |\n| 1 |   |\n',
});

const DOCUMENT = new URL('docs/operations/verification-reports.md', PACKAGE);
const CHECKER = /```js\n(.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8'))?.[1] ?? '';
const files = {
  checker: join(DATA_DIR, 'check.mjs'),
  report: join(DATA_DIR, 'report.json'),
  public_key: join(DATA_DIR, 'public-key.pem'),
};

async function report(): Promise<{ isSound: boolean; text: string }> {
  const blobs = await openFolderBlobs(join(DATA_DIR, 'blobs'));
  const readers = { blobs, readerOf: reader.of, sandboxOf: sandbox.of };
  const collected = openReport(owner.wiki_id);
  const isSound = await verifySources(world.db, readers, owner.wiki_id, () => undefined, collected.add);
  const key = await openReportKey(DATA_DIR);
  await writeFile(files.public_key, key.public_key);
  return { isSound, text: collected.signed(key) };
}

/** Runs the checker from the documentation, which shares no code with the service. */
async function check(text: string): Promise<{ status: number | null; lines: string[]; errors: string }> {
  await writeFile(files.checker, CHECKER);
  await writeFile(files.report, text);
  const args = [files.checker, files.report, files.public_key, world.address, owner.token ?? ''];
  const child = spawn(process.execPath, args);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, lines: output.trim().split('\n'), errors };
}

test('a report can be checked independently, by its signature and the API', async () => {
  const { isSound, text } = await report();
  assert.ok(isSound);
  const { status, lines, errors } = await check(text);
  assert.deepEqual([status, lines], [0, ['ok a.md', 'ok b.md']], errors);
  assert.ok(CHECKER.trim().split('\n').length <= 15, 'the checker is short enough to be read');
});

test('OpenSSL accepts the signature', async () => {
  const { record, signature } = JSON.parse((await report()).text);
  await writeFile(join(DATA_DIR, 'record.json'), record);
  await writeFile(join(DATA_DIR, 'signature.bin'), Buffer.from(signature, 'base64'));
  const command = /`(openssl .*?)`/s.exec(readFileSync(DOCUMENT, 'utf8'))?.[1] ?? '';
  const [name = '', ...args] = command.split(/\s+/);
  const { status, stdout, error } = spawnSync(name, args, { cwd: DATA_DIR });
  assert.equal(error, undefined, 'openssl must be installed');
  assert.equal(status, 0, String(stdout));
});

test('a report altered after signing is refused', async () => {
  const { text } = await report();
  const altered = text.replace('a.md', 'c.md');
  assert.notEqual(altered, text);
  const { status, errors } = await check(altered);
  assert.notEqual(status, 0);
  assert.match(errors, /the signature is not valid/);
});

test('a text altered before or after the report is named by the checker', async () => {
  const { text: before } = await report();
  await world.db.query(sql`
    update source_texts set text = replace(text, 'One', 'Two')
    where source_id in (select source_id from sources where wiki_id = ${owner.wiki_id} and filename = 'a.md')`);
  assert.deepEqual((await check(before)).lines, ['DIFFERS a.md', 'ok b.md']);
  const { isSound, text } = await report();
  assert.equal(isSound, false);
  assert.deepEqual((await check(text)).lines, ['DIFFERS a.md', 'ok b.md']);
  const { findings } = JSON.parse(JSON.parse(text).record).sources[0];
  assert.deepEqual(
    findings.map(({ kind }: { kind: string }) => kind),
    ['text_altered'],
  );
});

test('the key is readable only by the service, and does not change', async () => {
  const [first, second] = await Promise.all([openReportKey(DATA_DIR), openReportKey(DATA_DIR)]);
  assert.equal(first.public_key, second.public_key);
  assert.equal(statSync(join(DATA_DIR, 'report-key.pem')).mode & 0o777, 0o600);
});
