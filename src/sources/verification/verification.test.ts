import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { everyNth, longTest } from '../../../test/extent.ts';
import { jpegImage, pdfOf } from '../../../test/pdf.ts';
import { png } from '../../../test/pictures.ts';
import { verificationOf as answeredVerification } from '../../../test/verification-of.ts';
import { openWorld } from '../../../test/world.ts';
import { docxOf, wordParagraph } from '../../../test/zip.ts';
import { verifySources } from '../../operation/cli/verify.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { openFolderBlobs } from '../../platform/providers/storage/folder-blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';

const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-verification-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const world = await openWorld({ DATA_DIR });
const owner = await world.owner();
const CORPORA = new URL('../shared/corpora/documents/', PACKAGE);

const FILES = {
  'dose.md':
    '---\nlang: en\n---\n# Dose\n\n<!-- Ask first. -->\n\nThe sky is blue today.\n\n| a | b |\n| - | - |\n| 1 |   |\n\nIt costs ~~10~~ 20.\n\n![A dot](dot.png)\n',
  'dot.png': png(),
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

/** The tables that hold extracted text and the content of pages. */
const TABLES = ['sources', 'source_texts', 'page_sources', 'revisions', 'pages', 'page_texts', 'attachments'] as const;

/** Calls `look` after making the changes, then restores all tables. */
async function whileTampered<T>(changes: readonly Sql[], look: () => Promise<T>): Promise<T> {
  await world.db.transaction(async (query) => {
    for (const table of TABLES) await query(sql`create table ${raw(`kept_${table}`)} as select * from ${raw(table)}`);
    for (const change of changes) await query(change);
  });
  try {
    return await look();
  } finally {
    await world.db.transaction(async (query) => {
      for (const table of TABLES) {
        const names = (await columnsOf(table)).map(({ name }) => name);
        const isKey = names.filter((name) => COLUMNS[table][name] === KEY).map((name) => `t.${name} = k.${name}`);
        const [kept, columns, same] = [`kept_${table}`, names.join(), isKey.join(' and ')].map(raw);
        const back = raw(names.map((name) => `${name} = k.${name}`).join());
        await query(sql`update ${raw(table)} t set ${back} from ${kept} k where ${same}`);
        await query(sql`
          insert into ${raw(table)} (${columns})
          select ${columns} from ${kept} k where not exists (select from ${raw(table)} t where ${same})`);
        await query(sql`drop table ${kept}`);
      }
    });
  }
}

function foundWith(source_id: string, ...changes: readonly Sql[]): Promise<string[]> {
  return whileTampered(changes, async () => kindsOf(await verificationOf(source_id)));
}

/** Columns that are not generated. */
function columnsOf(table: string): Promise<{ name: string; type: string }[]> {
  return world.db.query(sql`
    select column_name::text as name, udt_name::text as type from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER' order by ordinal_position`);
}

const ofDose = sql`source_id = ${DOSE}`;
const ofWeaving = sql`source_id = ${WEAVING}`;
const ofPage = sql`page_id = (select c.page_id from page_sources c where c.source_id = ${DOSE})`;

test('unaltered sources have no findings', async () => {
  for (const source_id of [DOSE, WEAVING]) {
    const verification = await verificationOf(source_id);
    assert.deepEqual([verification.file, verification.text, verification.findings], ['intact', 'unchanged', []]);
    assert.deepEqual([verification.verified, verification.edited], [verification.citations, 0]);
  }
});

const NEW_HASH = sql`sha256(convert_to('The sky is green today.', 'UTF8'))`;

/** Changes of stored fields, made in the database. */
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
  [
    'all citations of a page, which are gone',
    DOSE,
    ['citations_altered'],
    sql`update page_sources set starts = '{}', ends = '{}', hashes = '', first_lines = '{}', last_lines = '{}',
      form_blocks = '{}', form_hashes = '' where ${ofDose}`,
  ],
  [
    'the last citation of a page, which is gone',
    DOSE,
    ['citations_altered'],
    sql`update page_sources set starts = trim_array(starts, 1), ends = trim_array(ends, 1), first_lines = trim_array(first_lines, 1),
      last_lines = trim_array(last_lines, 1), hashes = substr(hashes, 1, length(hashes) - 32) where ${ofDose}`,
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

/** Findings, at least one expected when the column is altered, or the reason why altering it proves nothing. */
type Column = readonly string[] | string;

const KEY = 'a row with another key is a row that is gone, which is tested below';
const WHO = 'who wrote it and when, which the audit log says, and no file';
const PLACE = 'where people put the page';
const REPLACED = 'the text of a revision that was replaced';

const COLUMNS: Record<(typeof TABLES)[number], Record<string, Column>> = {
  sources: {
    wiki_id: KEY,
    source_id: KEY,
    upload_id: ['record_altered'],
    title: ['record_altered'],
    acl_nos: 'who sees the source',
    copy_no: 'tells sources with the same bytes apart',
    filename: ['record_altered'],
    content_type: ['record_altered'],
    byte_size: ['file_altered'],
    sha256: ['file_missing'],
    language: ['record_altered'],
    created_at: WHO,
    updated_at: WHO,
    losses: ['losses_altered'],
    loss_count: ['losses_altered'],
    losses_to_review: ['losses_altered'],
    file_characters: ['losses_altered'],
    extractor_version: ['record_altered'],
  },
  source_texts: { wiki_id: KEY, source_id: KEY, text: ['text_altered'] },
  page_sources: {
    wiki_id: KEY,
    page_id: KEY,
    source_id: KEY,
    starts: ['citations_altered'],
    ends: ['citations_altered'],
    first_pages: ['citations_altered'],
    last_pages: ['citations_altered'],
    first_lines: ['citations_altered'],
    last_lines: ['citations_altered'],
    hashes: ['citations_altered'],
    form_blocks: ['citations_altered'],
    form_hashes: ['citations_altered'],
    form_version: ['citations_altered'],
    contexts: ['citations_altered'],
    target_blocks: ['html_altered', 'citations_altered'],
    targets: ['html_altered', 'citations_altered'],
    boxes: ['citations_altered'],
    extractor_version: ['citations_altered', 'record_altered'],
  },
  revisions: {
    wiki_id: KEY,
    page_id: KEY,
    revision: KEY,
    title: ['record_altered'],
    markdown: ['markdown_altered'],
    html: ['html_altered'],
    outline: ['outline_altered'],
    created_at: WHO,
    created_by: WHO,
    claim: WHO,
    origin: ['record_altered'],
    folder: 'where the links of a text begin that is edited next',
    packed: REPLACED,
    unpacked_bytes: REPLACED,
  },
  pages: {
    wiki_id: KEY,
    page_id: KEY,
    path: PLACE,
    slug: PLACE,
    title: ['record_altered'],
    description: ['record_altered'],
    parent_page_id: PLACE,
    position: PLACE,
    status: PLACE,
    origin: ['record_altered'],
    revision: ['record_altered'],
    word_count: ['record_altered'],
    source_count: ['record_altered'],
    stale: 'that a person has to decide about the page',
    created_at: WHO,
    updated_at: WHO,
    created_by: WHO,
    updated_by: WHO,
    parent_path: PLACE,
    trashed_at: PLACE,
    trashed_by: WHO,
    trashed_with: PLACE,
    gone_file: 'what a person has to decide about',
    tags: ['record_altered'],
    properties: ['record_altered'],
    acl_no: 'who sees the page',
  },
  page_texts: { wiki_id: KEY, page_id: KEY, text: ['page_text_altered'] },
  attachments: {
    wiki_id: KEY,
    attachment_id: KEY,
    page_id: KEY,
    filename: 'a name for downloads: what the file is, its bytes say',
    content_type: ['attachment_altered'],
    byte_size: ['attachment_altered'],
    sha256: ['attachment_altered'],
    created_at: WHO,
    created_by: WHO,
  },
};

/**
 * Altered values of a column, by its name or type. For lists: an altered number, a missing element, and an empty list.
 */
const OTHERWISE: Record<string, readonly string[]> = {
  origin: [`'authored'`],
  text: [`overlay(# placing 'zz' from 4)`, `''`],
  int4: ['# + 1', '0'],
  int8: ['# + 1', '0'],
  jsonb: [`'[]'`, `'[{}]'`],
  bytea: [`overlay(# placing decode('0102', 'hex') from 1)`, `substr(#, 33)`, `''`],
  _int4: [`array_replace(#, #[1], #[1] + 1)`, '#[2:]', `'{}'`, 'null'],
  _text: [`'{}'`, `'{x}'`],
};

function bothVerified() {
  return Promise.all([DOSE, WEAVING].map((id) => verificationOf(id)));
}

/** Constraints of the database refuse some changes: lists of different lengths, the same hash for two files, null. */
function refusedByConstraint(error: { code?: string }): undefined {
  if (!['23502', '23505', '23514'].includes(error.code ?? '')) throw error;
}

for (const table of TABLES) {
  longTest(`altering any column of ${table} in the database is found, unless a reason is given`, async () => {
    const columns = await columnsOf(table);
    assert.deepEqual(
      columns.map(({ name }) => name).sort(),
      Object.keys(COLUMNS[table]).sort(),
      'COLUMNS says of each column what is found where it is another',
    );
    for (const { name, type } of columns) {
      const expected = COLUMNS[table][name] ?? '';
      if (typeof expected === 'string') continue;
      const values = OTHERWISE[name] ?? OTHERWISE[type] ?? [];
      assert.ok(values.length > 0, `OTHERWISE has no other values of ${type}`);
      let tried = 0;
      for (const value of values.map((each) => each.replaceAll('#', name))) {
        const changed = sql`update ${raw(table)} set ${raw(name)} = ${raw(value)} where ${raw(name)} is distinct from ${raw(value)}`;
        const found = await whileTampered([changed], bothVerified).catch(refusedByConstraint);
        const isOther =
          (await world.db.query(sql`select from ${raw(table)} where ${raw(name)} is distinct from ${raw(value)}`))
            .length > 0;
        if (!isOther || !found) continue;
        tried += 1;
        const kinds = found.flatMap(kindsOf);
        assert.ok(
          expected.some((kind) => kinds.includes(kind)),
          `${name} = ${value}: ${expected} must be among ${kinds}`,
        );
      }
      assert.ok(tried > 0, `no row has another ${name}`);
    }
    assert.deepEqual((await bothVerified()).flatMap(kindsOf), [], 'all is put back');
  });
}

/**
 * The finding for deleted rows of each table. Deleted sources are found by `ibid verify` only, since the API has no
 * address for them.
 */
const GONE: Partial<Record<(typeof TABLES)[number], string>> = {
  source_texts: 'text_altered',
  page_sources: 'citations_missing',
  revisions: 'record_altered',
  page_texts: 'page_text_altered',
};

for (const [table, kind] of Object.entries(GONE)) {
  test(`deleted rows of ${table} are found`, async () => {
    const found = await foundWith(DOSE, sql`delete from ${raw(table)}`);
    assert.ok(found.includes(kind), `${kind} must be among ${found.join(', ')}`);
  });
}

test('`ibid verify` finds a source whose row is missing, unless the source was deleted', async () => {
  const other = await world.owner();
  await world.upload(other, other.wiki_id, { 'a.md': '# A\n', 'b.md': '# B\n' });
  const [a, b] = (await other.get(`/v1/wikis/${other.wiki_id}/sources`)).body;
  assert.equal((await other.send('DELETE', `/v1/wikis/${other.wiki_id}/sources/${a.source_id}`)).status, 204);
  assert.deepEqual(await verifiedByCommand(other.wiki_id), [
    true,
    '1 sources, 1 blocks of pages: 1 verified, 0 edited since, 0 sources do not match',
  ]);
  const gone = sql`delete from sources where source_id = ${b.source_id}`;
  const [isSound, said] = await whileTampered(
    [gone, sql`delete from page_sources where source_id = ${b.source_id}`],
    () => verifiedByCommand(other.wiki_id),
  );
  assert.equal(isSound, false);
  assert.match(said, / b: its source is missing/);
});

async function verifiedByCommand(wiki_id: string): Promise<[isSound: boolean, said: string]> {
  const [sandbox, reader] = [openSandbox(), openDocumentReader()];
  const readers = { blobs: await openFolderBlobs(join(DATA_DIR, 'blobs')), readerOf: reader.of, sandboxOf: sandbox.of };
  const said: string[] = [];
  const isSound = await verifySources(world.db, readers, wiki_id, (line) => said.push(line));
  await Promise.all([sandbox.close(), reader.close()]);
  return [isSound, said.join('\n')];
}

/** Every third case, unless the run is a full one. */
const isTurn = everyNth(3);

for (const [what, source_id, expected, ...changes] of TAMPERED.filter(isTurn)) {
  test(`altering ${what} in the database is reported`, async () => {
    const found = await foundWith(source_id, ...changes);
    for (const kind of expected) assert.ok(found.includes(kind), `${kind} must be among ${found.join(', ')}`);
    assert.deepEqual((await verificationOf(source_id)).findings, [], 'and nothing is found when it is as it was');
  });
}

test('an altered or missing file is reported, and its text is not trusted', async () => {
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

test('an edit is counted and is no finding, while a change without a revision is one', async () => {
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

longTest('a reading that met a limit is no finding, and its losses are still compared', async () => {
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

/**
 * Files that the previous version of an extractor read differently, and equivalents that read today as the originals
 * did then.
 */
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

longTest(
  'text that former extractor versions read from HTML and Word still verifies, and a new upload reads it again',
  async () => {
    const [other, elsewhere] = [await world.owner(), await world.owner()];
    const upload = async (which: 'now' | 'before', to = other) => {
      const files = Object.entries(READ_OTHERWISE).map(([name, bytes]) => [name, bytes[which]] as const);
      assert.equal((await world.upload(to, to.wiki_id, Object.fromEntries(files))).body.status, 'completed');
    };
    await upload('before');
    await upload('now', elsewhere);
    // Simulate the former version: the pages come from `before`, the stored files from `now`.
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
  },
);

longTest('real documents have no findings, however they are divided', async () => {
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
