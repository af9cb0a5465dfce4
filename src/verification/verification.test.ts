import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../test/clean-up.ts';
import { jpegImage, pdfOf } from '../../test/pdf.ts';
import { verificationOf as answeredVerification } from '../../test/verification-of.ts';
import { openWorld } from '../../test/world.ts';
import { docxOf, wordParagraph } from '../../test/zip.ts';
import { verifySources } from '../cli/verify.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { openFolderBlobs } from '../providers/storage/folder-blobs.ts';
import { openDocumentReader } from '../sandbox/document-reader.ts';
import { openSandbox } from '../sandbox/sandbox.ts';

const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-verification-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const world = await openWorld({ DATA_DIR });
const owner = await world.owner();
const CORPORA = new URL('../../../shared/corpora/documents/', import.meta.url);

const FILES = {
  'dose.md':
    '---\nlang: en\n---\n# Dose\n\n<!-- Ask first. -->\n\nThe sky is blue today.\n\n| a | b |\n| - | - |\n| 1 |   |\n\nIt costs ~~10~~ 20.\n',
  'weaving.pdf': pdfOf([
    [
      ['On Weaving', 50, 700, 20],
      ['Warp and weft are the two threads.', 50, 660],
    ],
    [['A shuttle carries the weft from side to side.', 50, 700]],
  ]),
};
await world.upload(owner, owner.wiki_id, FILES);
const sources: { source_id: string; filename: string; sha256: string }[] = (
  await owner.get(`/v1/wikis/${owner.wiki_id}/sources`)
).body;
const idOf = (name: keyof typeof FILES) => sources.find(({ filename }) => filename === name)?.source_id ?? '';
const DOSE = idOf('dose.md');
const WEAVING = idOf('weaving.pdf');

interface Verification {
  file: string;
  text: string;
  limited: boolean;
  citations: number;
  verified: number;
  edited: number;
  findings: { kind: string; page_id: string }[];
}

function verificationOf(source_id: string, of: typeof owner = owner): Promise<Verification> {
  return answeredVerification(of, `/v1/wikis/${of.wiki_id}/sources/${source_id}`);
}

const kindsOf = ({ findings }: Verification) => [...new Set(findings.map(({ kind }) => kind))];

/** What is found while these tables are otherwise; they are put back afterwards. */
async function foundWith(source_id: string, ...changes: readonly Sql[]): Promise<string[]> {
  const tables = ['sources', 'source_texts', 'page_sources', 'revisions', 'page_texts'] as const;
  const before = await Promise.all(
    tables.map((name) => world.db.query<{ rows: object }>(sql`select ${ALL[name]} as rows`)),
  );
  for (const change of changes) await world.db.query(change);
  const found = kindsOf(await verificationOf(source_id));
  for (const [i, name] of tables.entries()) await world.db.query(PUT_BACK[name](JSON.stringify(before[i]?.[0]?.rows)));
  return found;
}

/** The columns that the tests change. */
const ALL = {
  sources: sql`(select json_agg(t) from sources t)`,
  source_texts: sql`(select json_agg(t) from source_texts t)`,
  page_sources: sql`(select json_agg(t) from page_sources t)`,
  revisions: sql`(select json_agg(t) from revisions t)`,
  page_texts: sql`(select json_agg(t) from page_texts t)`,
};
const PUT_BACK = {
  sources: (rows: string) => sql`
    update sources t set sha256 = g.sha256, byte_size = g.byte_size, title = g.title, language = g.language,
      content_type = g.content_type, extractor_version = g.extractor_version, losses = g.losses, loss_count = g.loss_count,
      losses_to_review = g.losses_to_review, file_characters = g.file_characters
    from json_populate_recordset(null::sources, ${rows}::json) g where t.source_id = g.source_id`,
  source_texts: (rows: string) => sql`
    update source_texts t set text = g.text
    from json_populate_recordset(null::source_texts, ${rows}::json) g where t.source_id = g.source_id`,
  page_sources: (rows: string) => sql`
    update page_sources t set starts = g.starts, ends = g.ends, first_pages = g.first_pages, last_pages = g.last_pages,
      first_lines = g.first_lines, last_lines = g.last_lines, hashes = g.hashes, form_blocks = g.form_blocks,
      form_hashes = g.form_hashes, marks_drawn = g.marks_drawn, boxes = g.boxes
    from json_populate_recordset(null::page_sources, ${rows}::json) g
    where t.page_id = g.page_id and t.source_id = g.source_id`,
  revisions: (rows: string) => sql`
    update revisions t set markdown = g.markdown, html = g.html, outline = g.outline
    from json_populate_recordset(null::revisions, ${rows}::json) g
    where t.page_id = g.page_id and t.revision = g.revision`,
  page_texts: (rows: string) => sql`
    update page_texts t set text = g.text
    from json_populate_recordset(null::page_texts, ${rows}::json) g where t.page_id = g.page_id`,
};

const ofDose = sql`source_id = ${DOSE}`;
const ofWeaving = sql`source_id = ${WEAVING}`;
const ofPage = sql`page_id = (select c.page_id from page_sources c where c.source_id = ${DOSE})`;

test('where nothing was altered nothing is found', async () => {
  for (const source_id of [DOSE, WEAVING]) {
    const verification = await verificationOf(source_id);
    assert.deepEqual([verification.file, verification.text, verification.findings], ['intact', 'unchanged', []]);
    assert.deepEqual([verification.verified, verification.edited], [verification.citations, 0]);
  }
});

const NEW_HASH = sql`sha256(convert_to('The sky is green today.', 'UTF8'))`;

/** Each stored field, altered in the database itself. */
const TAMPERED: readonly (readonly [what: string, source_id: string, expected: string[], ...changes: Sql[]])[] = [
  ['the hash of the file', DOSE, ['file_missing'], sql`update sources set sha256 = repeat('0', 64) where ${ofDose}`],
  ['the size of the file', DOSE, ['file_altered'], sql`update sources set byte_size = byte_size + 1 where ${ofDose}`],
  ['the title', DOSE, ['record_altered'], sql`update sources set title = 'Another' where ${ofDose}`],
  ['the language', DOSE, ['record_altered'], sql`update sources set language = 'de' where ${ofDose}`],
  ['the type', DOSE, ['record_altered'], sql`update sources set content_type = 'text/html' where ${ofDose}`],
  ['the version', DOSE, ['record_altered'], sql`update sources set extractor_version = 1000 where ${ofDose}`],
  ['the losses', DOSE, ['losses_altered'], sql`update sources set losses = '[]', loss_count = 0 where ${ofDose}`],
  [
    'a loss',
    DOSE,
    ['losses_altered'],
    sql`update sources set losses = jsonb_set(losses, '{0,excerpt}', '"x"') where ${ofDose}`,
  ],
  ['the count of losses', DOSE, ['losses_altered'], sql`update sources set loss_count = 0 where ${ofDose}`],
  ['the losses to review', DOSE, ['losses_altered'], sql`update sources set losses_to_review = 5 where ${ofDose}`],
  ['the characters', DOSE, ['losses_altered'], sql`update sources set file_characters = 0 where ${ofDose}`],
  [
    'the text',
    DOSE,
    ['text_altered'],
    sql`update source_texts set text = replace(text, 'blue', 'GREEN') where ${ofDose}`,
  ],
  [
    'the text and the hash of it',
    DOSE,
    ['text_altered', 'citations_altered', 'html_altered', 'markdown_altered'],
    sql`update source_texts set text = replace(text, 'blue', 'green') where ${ofDose}`,
    sql`update page_sources set ends[2] = ends[2] + 1, hashes = overlay(hashes placing ${NEW_HASH} from 33) where ${ofDose}`,
  ],
  [
    'the text, the hash of it and all of the page',
    DOSE,
    ['text_altered', 'citations_altered'],
    sql`update source_texts set text = replace(text, 'blue', 'green') where ${ofDose}`,
    sql`update page_sources set ends[2] = ends[2] + 1, hashes = overlay(hashes placing ${NEW_HASH} from 33) where ${ofDose}`,
    sql`update revisions set markdown = replace(markdown, 'blue', 'green'), html = replace(html, 'blue', 'green') where ${ofPage}`,
    sql`update page_texts set text = replace(text, 'blue', 'green') where ${ofPage}`,
  ],
  [
    'a text that another version would have read',
    DOSE,
    ['read_otherwise'],
    sql`update source_texts set text = replace(text, 'blue', 'GREEN') where ${ofDose}`,
    sql`update sources set extractor_version = 0 where ${ofDose}`,
  ],
  ['a start', DOSE, ['citations_altered'], sql`update page_sources set starts[1] = starts[1] + 1 where ${ofDose}`],
  ['an end', DOSE, ['citations_altered'], sql`update page_sources set ends[1] = ends[1] - 1 where ${ofDose}`],
  ['a line', DOSE, ['citations_altered'], sql`update page_sources set first_lines[2] = 1 where ${ofDose}`],
  ['a last line', DOSE, ['citations_altered'], sql`update page_sources set last_lines[2] = 9 where ${ofDose}`],
  ['a page', WEAVING, ['citations_altered'], sql`update page_sources set first_pages[2] = 2 where ${ofWeaving}`],
  ['a box', WEAVING, ['citations_altered'], sql`update page_sources set boxes[3] = 1 where ${ofWeaving}`],
  ['a last page', WEAVING, ['citations_altered'], sql`update page_sources set last_pages[2] = 2 where ${ofWeaving}`],
  [
    'a hash',
    DOSE,
    ['citations_altered', 'html_altered', 'markdown_altered'],
    sql`update page_sources set hashes = overlay(hashes placing ${NEW_HASH} from 33) where ${ofDose}`,
  ],
  [
    'a hash of a form',
    DOSE,
    ['citations_altered', 'html_altered', 'markdown_altered'],
    sql`update page_sources set form_hashes = overlay(form_hashes placing ${NEW_HASH} from 1) where ${ofDose}`,
  ],
  [
    'which blocks have a form',
    DOSE,
    ['citations_altered', 'html_altered', 'markdown_altered'],
    sql`update page_sources set form_blocks[1] = 0 where ${ofDose}`,
  ],
  ['the HTML', DOSE, ['html_altered'], sql`update revisions set html = replace(html, 'blue', 'GREEN') where ${ofPage}`],
  [
    'a paragraph more in the HTML',
    DOSE,
    ['page_altered', 'page_text_altered'],
    sql`update revisions set html = html || '<p>More.</p>' where ${ofPage}`,
  ],
  [
    'the Markdown',
    DOSE,
    ['markdown_altered'],
    sql`update revisions set markdown = replace(markdown, 'blue', 'GREEN') where ${ofPage}`,
  ],
  [
    'the HTML and the Markdown',
    DOSE,
    ['html_altered', 'markdown_altered'],
    sql`update revisions set markdown = replace(markdown, 'blue', 'red'), html = replace(html, 'blue', 'red') where ${ofPage}`,
  ],
  ['the outline', DOSE, ['outline_altered'], sql`update revisions set outline = '[]' where ${ofPage}`],
  [
    'the text for searches',
    DOSE,
    ['page_text_altered'],
    sql`update page_texts set text = replace(text, 'blue', 'GREEN') where ${ofPage}`,
  ],
];

for (const [what, source_id, expected, ...changes] of TAMPERED) {
  test(`${what}, altered in the database, is found and named`, async () => {
    const found = await foundWith(source_id, ...changes);
    for (const kind of expected) assert.ok(found.includes(kind), `${kind} must be among ${found.join(', ')}`);
    assert.deepEqual((await verificationOf(source_id)).findings, [], 'and nothing is found when it is as it was');
  });
}

test('a file that is altered or gone is found, and its text is not believed', async () => {
  const { sha256 = '' } = sources.find(({ source_id }) => source_id === DOSE) ?? {};
  const path = join(DATA_DIR, 'blobs', sha256.slice(0, 2), sha256);
  await rename(path, `${path}.kept`);
  const missing = await verificationOf(DOSE);
  assert.deepEqual([missing.file, missing.text, kindsOf(missing)], ['missing', 'not_read', ['file_missing']]);
  await writeFile(path, FILES['dose.md'].replace('blue', 'gray'));
  const altered = await verificationOf(DOSE);
  assert.deepEqual([altered.file, altered.text, kindsOf(altered)], ['altered', 'not_read', ['file_altered']]);
  await rename(`${path}.kept`, path);
  assert.deepEqual((await verificationOf(DOSE)).findings, []);
});

test('what a person edits is counted and no finding, and where no one did so it is one', async () => {
  const [{ page_id } = { page_id: '' }] = await world.db.query<{ page_id: string }>(
    sql`select page_id from page_sources where ${ofWeaving}`,
  );
  const at = `/v1/wikis/${owner.wiki_id}/pages/${page_id}`;
  const { markdown } = (await owner.get(at)).body;
  const edit = { base_revision: 1, markdown: markdown.replace('two threads', 'three threads') };
  assert.equal((await owner.patch(at, edit)).status, 200);
  const { citations, verified, edited, findings } = await verificationOf(WEAVING);
  assert.deepEqual([verified, edited, findings], [citations - 1, 1, []]);
  await world.db.query(
    sql`update revisions set html = replace(html, 'side to side', 'end to end') where page_id = ${page_id}`,
  );
  assert.deepEqual(kindsOf(await verificationOf(WEAVING)), ['page_altered', 'page_text_altered']);
});

test('a reading that met a limit is no finding, and what it left out is compared all the same', async () => {
  const other = await world.owner();
  const lines = [['A map of the town', 50, 700] as const];
  const pdf = pdfOf([lines], [[['Map', 50, 400, 200, 150]]], { Map: jpegImage(120, 90) });
  await world.upload(other, other.wiki_id, { 'map.pdf': pdf });
  const [{ source_id }] = (await other.get(`/v1/wikis/${other.wiki_id}/sources`)).body;
  const found = async (losses: readonly object[]) => {
    await world.db.query(sql`
      update sources set losses = ${JSON.stringify(losses)}::jsonb, loss_count = ${losses.length},
        losses_to_review = ${losses.length} where source_id = ${source_id}`);
    const verification = await verificationOf(source_id, other);
    return [verification.text, verification.limited, kindsOf(verification)];
  };
  const about = { first_page: 0, last_page: 0, count: 1, characters: 0, excerpt: '' };
  const place = 'all pictures: reading them takes more than a document may';
  const limit = { kind: 'picture', place, ...about };
  assert.deepEqual(await found([limit]), ['unchanged', true, []]);
  assert.deepEqual(await found([limit, { ...limit, place: '' }]), ['unchanged', true, ['losses_altered']]);
  assert.deepEqual(await found([]), ['unchanged', false, []]);
  const [sandbox, hurried] = [openSandbox(), openDocumentReader({ cpuTimeLimitMs: 1 })];
  cleanUp(() => Promise.all([sandbox.close(), hurried.close()]));
  const blobs = await openFolderBlobs(join(DATA_DIR, 'blobs'));
  const readers = { blobs, readerOf: hurried.of, sandboxOf: sandbox.of };
  const said: string[] = [];
  assert.ok(await verifySources(world.db, readers, other.wiki_id, (line) => said.push(line)));
  assert.match(said.join(), /^1 sources, .*1 sources read under a limit, 0 sources do not match$/);
});

/** What a version of an extractor reads otherwise than the one before it; and the same as that read it, in another way. */
const READ_OTHERWISE: Record<string, { now: Uint8Array; before: Uint8Array }> = {
  'figure.html': {
    now: Buffer.from(
      '<p>A figure.</p>\n<figure><img src="a.png" alt="It"><figcaption aria-hidden="true">A map</figcaption></figure>',
    ),
    before: Buffer.from('<p>A figure.</p>\n<figure><img src="a.png" alt="It"></figure>'),
  },
  'code.docx': { now: wordCode('SourceCode'), before: wordCode('') },
};

function wordCode(style: string): Buffer {
  const name = '<w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style>';
  return docxOf(
    wordParagraph('A program.') + wordParagraph('if (a)  b();', style),
    '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>',
    [
      [
        'word/styles.xml',
        Buffer.from(
          `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${name}</w:styles>`,
        ),
      ],
    ],
  );
}

test('what former versions read of HTML and Word still verifies, and is read anew when it is uploaded again', async () => {
  const [other, elsewhere] = [await world.owner(), await world.owner()];
  const upload = async (which: 'now' | 'before', to = other) => {
    const files = Object.entries(READ_OTHERWISE).map(([name, bytes]) => [name, bytes[which]] as const);
    assert.equal((await world.upload(to, to.wiki_id, Object.fromEntries(files))).body.status, 'completed');
  };
  await upload('before');
  await upload('now', elsewhere);
  // The pages are what the former version made of the files that are elsewhere.
  for (const table of ['sources', 'upload_files']) {
    await world.db.query(sql`
      update ${raw(table)} f set sha256 = g.sha256, byte_size = g.byte_size from ${raw(table)} g
      where f.wiki_id = ${other.wiki_id} and g.wiki_id = ${elsewhere.wiki_id} and g.filename = f.filename`);
  }
  await world.db.query(
    sql`update sources set extractor_version = extractor_version - 1 where wiki_id = ${other.wiki_id}`,
  );
  const checked = async () => {
    const { body } = await other.get(`/v1/wikis/${other.wiki_id}/sources`);
    assert.equal(body.length, 2);
    return Promise.all(body.map(({ source_id }: { source_id: string }) => verificationOf(source_id, other)));
  };
  for (const verification of await checked()) {
    const { file, text, citations, verified, edited } = verification;
    assert.deepEqual([file, text, kindsOf(verification)], ['intact', 'read_otherwise', ['read_otherwise']]);
    assert.deepEqual([verified, edited], [citations, 0], 'its pages say what it said');
  }
  await upload('now');
  for (const verification of await checked()) {
    const { text, findings, citations, verified } = verification;
    assert.deepEqual([text, findings, verified], ['unchanged', [], citations]);
  }
});

test('of real documents, however they are divided, nothing is found', async () => {
  const documents = existsSync(CORPORA)
    ? readdirSync(CORPORA).map((name) => [name, readFileSync(new URL(name, CORPORA))] as const)
    : [];
  const sections = Array.from({ length: 12 }, (_, i) => `## Part ${i} of H<sub>2</sub>O\n\n${'word '.repeat(9_000)}\n`);
  const other = await world.owner();
  await world.upload(
    other,
    other.wiki_id,
    Object.fromEntries([...documents, ['long.md', `# Long\n\n${sections.join('\n')}`]]),
  );
  const { body } = await other.get(`/v1/wikis/${other.wiki_id}/sources?limit=500`);
  assert.ok(body.length > documents.length / 3);
  for (const { source_id, filename } of body) {
    const { text, findings, edited, verified, citations } = await verificationOf(source_id, other);
    assert.deepEqual([text, findings, edited], ['unchanged', [], 0], filename);
    assert.equal(verified, citations, filename);
  }
});
