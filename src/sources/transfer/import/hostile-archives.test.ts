import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import yazl from 'yazl';
import { exported, imported, newWiki, unzipped, zipped } from '../../../../test/archives.ts';
import { openWorld } from '../../../../test/world.ts';
import { sql } from '../../../platform/db/sql.ts';

const world = await openWorld({ MAX_FILE_SIZE: '1MiB', MAX_UPLOAD_SIZE: '2MiB', MAX_MARKDOWN_SIZE: '64KiB' });
const owner = await world.owner();
const empty = await newWiki(owner);
const full = await newWiki(owner);
const { body: parent } = await owner.post(`/v1/wikis/${full}/pages`, { title: 'Parent', markdown: '# Parent\n' });
await owner.post(`/v1/wikis/${full}/pages`, { title: 'Child', markdown: 'x', parent_page_id: parent.page_id });
const form = new FormData();
form.append('file', new Blob(['attached']), 'note.txt');
await owner.send('POST', `/v1/wikis/${full}/pages/${parent.page_id}/attachments`, { body: form });
const files = await unzipped(await exported(world, owner, full));

/** Replaces a filename in both places of an archive by a name of the same length. */
async function renamed(from: string, to: string, more: [string, string][] = []): Promise<Buffer> {
  const zip = await zipped([[from, '# Text\n'], ...more]);
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1');
}

/** Overwrites bytes in every directory entry of an archive. */
async function patched(offset: number, bytes: number[], content = '# Text\n'): Promise<Buffer> {
  const zip = await zipped([['a.md', content]]);
  for (let at = zip.indexOf('PK\x01\x02'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 1)) zip.set(bytes, at + offset);
  return zip;
}

function withMode(mode: number): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  zip.addBuffer(Buffer.from('/etc/passwd'), 'a.md', { mode });
  zip.end();
  return buffer(zip.outputStream);
}

function changed(name: string, change: (text: string) => string | undefined): Promise<Buffer> {
  const text = change(String(files.get(name)));
  const kept = new Map<string, Uint8Array | string>(files);
  if (text === undefined) kept.delete(name);
  else kept.set(name, text);
  return zipped(kept);
}

const ZEROS = '\0'.repeat(2 ** 20);
const FOREIGN = 'page_01jd8w3v6xf3e8h2k9m4n5p6s1';

const HOSTILE: Record<string, [Promise<Buffer> | Buffer, RegExp]> = {
  'what is no ZIP': [Buffer.from('# Markdown\n'), /^invalid_archive: .*not a readable ZIP/],
  nothing: [Buffer.of(), /^invalid_archive: .*not a readable ZIP/],
  'half a ZIP': [zipped([['a.md', 'x']]).then((zip) => zip.subarray(0, zip.length - 10)), /^invalid_archive/],
  'no document': [zipped([['a.bin', 'x']]), /^invalid_archive: .*no Markdown/],
  'a way out': [renamed('aa/x.md', '../x.md'), /^invalid_archive/],
  'a way out further in': [renamed('a/bb/x.md', 'a/../x.md'), /^invalid_archive/],
  'an absolute name': [renamed('xetc.md', '/etc.md'), /^invalid_archive/],
  'a drive': [renamed('xx/a.md', 'c:/a.md'), /^invalid_archive/],
  backslashes: [renamed('a/b.md', 'a\\b.md'), /^invalid_archive/],
  'a NUL': [renamed('a-b.md', 'a\0b.md'), /^invalid_archive: .*leads out/],
  'two files of one name': [renamed('a.md', 'b.md', [['b.md', 'x']]), /^invalid_archive: .*two files/],
  'a symbolic link': [withMode(0o120777), /^invalid_archive: .*link/],
  'a device': [withMode(0o020666), /^invalid_archive: .*device/],
  'an encrypted file': [patched(8, [1, 8]), /^invalid_archive: .*encrypted/],
  'another packing': [patched(10, [12, 0]), /^invalid_archive: .*DEFLATE/],
  'a smaller size than it has': [patched(24, [3, 0, 0, 0]), /^invalid_archive/],
  'another checksum': [patched(16, [1, 2, 3, 4]), /^invalid_archive: .*checksum/],
  'a bomb of one file': [zipped([['a.md', ZEROS.repeat(17)]]), /^archive_too_large/],
  'a bomb of many files': [
    zipped(Array.from({ length: 21 }, (_, i) => [`${i}.md`, ZEROS] as const)),
    /^archive_too_large/,
  ],
  'a manifest that is none': [changed('ibid.json', () => '{"format":'), /^invalid_archive: ibid\.json/],
  'another manifest': [
    changed('ibid.json', (text) => text.replace('ibid-wiki', 'other')),
    /^invalid_archive: ibid\.json/,
  ],
  "another wiki's page as its home": [
    changed('ibid.json', (text) => text.replace('"title"', `"home_page_id": "${FOREIGN}", "title"`)),
    /^invalid_archive: ibid\.json: .* not a page of the archive/,
  ],
  'a later version': [changed('ibid.json', (text) => text.replace('"version": 1', '"version": 2')), /version 2/],
  'more pages than the manifest says': [
    changed('ibid.json', (text) => text.replace('"pages": 2', '"pages": 1')),
    /^invalid_archive/,
  ],
  'fewer revisions': [
    changed('ibid.json', (text) => text.replace('"revisions": 2', '"revisions": 1')),
    /^invalid_archive/,
  ],
  'no history': [changed('history.jsonl', () => undefined), /^invalid_archive: .*history\.jsonl/],
  'history without a page': [
    changed('history.jsonl', (text) => text.split('\n').slice(0, 1).join('\n')),
    /lacks the current revision/,
  ],
  'history out of order': [
    changed('history.jsonl', (text) => text.trim().split('\n').toReversed().join('\n')),
    /out of order/,
  ],
  'history twice': [changed('history.jsonl', (text) => text + text), /^invalid_archive/],
  'a line that is no record': [
    changed('history.jsonl', (text) => text.replace('"revision":1', '"revision":"1"')),
    /history\.jsonl, line 1/,
  ],
  'a NUL in a text': [changed('history.jsonl', (text) => text.replace('# Parent', '\\u0000')), /NUL/],
  'a text that is too long': [
    changed('history.jsonl', (text) => text.replace('# Parent', 'x'.repeat(70_000))),
    /^archive_too_large/,
  ],
  'a page below nothing': [
    changed('pages.jsonl', (text) => text.replace('"path":"parent"', '"path":"other"')),
    /is not below a page/,
  ],
  'a path that is none': [
    changed('pages.jsonl', (text) => text.replace('"path":"parent/child"', '"path":"../child"')),
    /not a valid page path/,
  ],
  'a page twice': [
    changed('pages.jsonl', (text) => text.replace(/page_\w{26}/g, FOREIGN)),
    /two pages with the same page_id/,
  ],
  'an id that is none': [
    changed('pages.jsonl', (text) => text.replace(/page_\w{26}/, "' or 1=1")),
    /pages\.jsonl, line 1/,
  ],
  'a missing Markdown file': [changed('pages/parent/child.md', () => undefined), /no file "pages\/parent\/child\.md"/],
  'a person that it does not list': [changed('people.jsonl', () => ''), /people\.jsonl does not list/],
  'an attachment of no page': [
    changed('attachments.jsonl', (text) => text.replace(/page_\w{26}/, FOREIGN)),
    /belongs to a page that does not exist/,
  ],
  'other bytes of an attachment': [
    changed('attachments.jsonl', (text) => text.replace(/"sha256":"\w{4}/, '"sha256":"0000')),
    /does not have the hash/,
  ],
};

for (const [what, [archive, error]] of Object.entries(HOSTILE)) {
  test(`an archive with ${what} is refused with a reason, and leaves no rows`, async () => {
    const job = await imported(owner, empty, await archive);
    assert.equal(job.status, 'failed', JSON.stringify(job));
    assert.match(job.error, error);
    assert.match(job.error, /^(?:invalid_archive|archive_too_large): [A-Z"a-z].*\.$/, 'a code and a sentence');
    const left = await world.db.query(sql`
      select page_id from pages where wiki_id = ${empty} union all select user_id from imported_people where wiki_id = ${empty}
      union all select attachment_id from attachments where wiki_id = ${empty}`);
    assert.deepEqual(left, []);
    const records = await world.db.query(sql`
      select 1 from audit_events where target_id = ${job.job_id} and type in ('import.created', 'import.failed')`);
    assert.equal(records.length, 2);
  });
}

test('foreign ids in an archive are replaced, and the rows of their workspace are unchanged', async () => {
  const other = await world.owner();
  const theirs = await newWiki(other);
  const { body: page } = await other.post(`/v1/wikis/${theirs}/pages`, { title: 'Theirs', markdown: 'theirs' });
  const forged = await Promise.all(
    [...files].map(
      async ([name, bytes]) => [name, bytes.toString('latin1').replaceAll(parent.page_id, page.page_id)] as const,
    ),
  );
  const archive = await zipped(forged.map(([name, text]) => [name, Buffer.from(text, 'latin1')] as const));
  const to = await newWiki(owner);
  const job = await imported(owner, to, archive);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const rows = await world.db.query<{ wiki_id: string }>(
    sql`select wiki_id from pages where page_id = ${page.page_id}`,
  );
  assert.deepEqual(rows, [{ wiki_id: theirs }]);
  assert.equal((await other.get(`/v1/wikis/${theirs}/pages/${page.page_id}`)).body.markdown, 'theirs');
});
