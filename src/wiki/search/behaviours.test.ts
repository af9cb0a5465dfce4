import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import type { Client } from '../../../test/world.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { mergePending } from './index/merge-pending.ts';

/**
 * Runs each line of behaviours.md as a search over HTTP. A heading starts a group, whose pages are in a wiki of their
 * own; the beginning of that file explains the columns.
 */
interface PageLine {
  title: string;
  options: string[];
  markdown: string;
}

interface Line {
  query: string;
  expected: string;
  note: string;
}

interface Group {
  name: string;
  pages: PageLine[];
  lines: Line[];
}

const LEAST_LINES = 450;
/** Maximum number of lines that are documented to differ from a person's expectation. */
const MOST_ARGUED = 20;

const GROUPS = readGroups(readFileSync(new URL('src/wiki/search/behaviours.md', PACKAGE), 'utf8'));
const world = await sharedWorld();

function readGroups(text: string): Group[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n');
      const pages = lines.flatMap((line) => {
        const [, title, options, markdown] = /^- \*\*(.+?)\*\*(?: \(([^)]*)\))?:(?: (.*))?$/.exec(line) ?? [];
        if (title === undefined) return [];
        return [{ title, options: options?.split(', ') ?? [], markdown: (markdown ?? '').replaceAll('\\n', '\n') }];
      });
      return { name, pages, lines: lines.filter((line) => line.startsWith('| `')).map(readLine) };
    });
}

function readLine(line: string): Line {
  const cells = line
    .slice(2, -2)
    .split(/ \| | \|$/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
  assert.ok(cells.length >= 2 && cells.length <= 3, `three columns: ${line}`);
  const [query = '', expected = '', note = ''] = cells;
  return { query: query.replace(/^(`+) ?(.*?) ?\1$/, '$2'), expected, note };
}

interface Wiki {
  owner: Client;
  path: string;
}

async function makeWiki(pages: readonly PageLine[]): Promise<Wiki> {
  const owner = await world.owner();
  const path = `/v1/wikis/${owner.wiki_id}`;
  const ids = new Map<string, string>();
  const others = new Map<string, Client>();
  for (const { title, options, markdown } of pages) {
    const optionOf = (name: string) => options.find((option) => option.startsWith(`${name} `))?.slice(name.length + 1);
    const author = optionOf('by');
    if (author !== undefined && !others.has(author)) {
      const member = await world.member(owner.workspace_id, 'member');
      await member.patch('/v1/me', { display_name: author });
      others.set(author, member);
    }
    const parent_page_id = ids.get(optionOf('below') ?? '');
    const { status, body } = await (others.get(author ?? '') ?? owner).post(`${path}/pages`, {
      title,
      markdown,
      ...(parent_page_id !== undefined && { parent_page_id }),
      ...(options.includes('draft') && { status: 'draft' }),
    });
    assert.equal(status, 201, JSON.stringify(body));
    ids.set(title, body.page_id);
  }
  while ((await mergePending(world.db, owner.wiki_id, 'page', 'wait')) > 0);
  return { owner, path };
}

interface Hit {
  title: string;
  snippet: string;
}

/** Describes how the hits differ from the expected ones; undefined if they match. */
function differenceOf(hits: readonly Hit[], expected: string): string | undefined {
  const titles = hits.map(({ title }) => title);
  const holds = (condition: string): boolean => {
    const [, word = '', rest = ''] = /^(only|has|without|shows) (.*)$/.exec(condition) ?? [undefined, '', condition];
    const named = rest.split('; ');
    if (condition === 'nothing') return hits.length === 0;
    if (word === 'only') return titles.toSorted().join('; ') === named.toSorted().join('; ');
    if (word === 'has') return named.every((title) => titles.includes(title));
    if (word === 'without') return named.every((title) => !titles.includes(title));
    if (word === 'shows') return (hits[0]?.snippet ?? '').includes(rest.replace(/^`(.*)`$/, '$1'));
    return named.every((title, i) => titles[i] === title);
  };
  if (expected.split(' and ').every(holds)) return undefined;
  const snippet = expected.includes('shows ') ? ` “${hits[0]?.snippet}”` : '';
  return `expected ${expected}, found ${titles.length === 0 ? 'nothing' : titles.join('; ')}${snippet}`;
}

async function ask({ owner, path }: Wiki, query: string): Promise<Hit[]> {
  const { status, body } = await owner.get(`${path}/pages/search?query=${encodeURIComponent(query)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

for (const { name, pages, lines } of GROUPS) {
  test(name, async () => {
    const wiki = await makeWiki(pages);
    const wrong: string[] = [];
    for (const { query, expected, note } of lines) {
      const difference = differenceOf(await ask(wiki, query), expected);
      if (note === 'not yet') {
        if (difference === undefined) wrong.push(`${query}: holds now, so take “not yet” away`);
      } else if (difference !== undefined) wrong.push(`${query}: ${difference}`);
    }
    assert.deepEqual(wrong, []);
  });
}

test('the table has enough lines, names each query once per group, and argues few lines', () => {
  const lines = GROUPS.flatMap((group) => group.lines);
  const argued = lines.filter(({ note }) => note.startsWith('argued'));
  const unfinished = lines.filter(({ note }) => note === 'not yet');
  assert.ok(lines.length >= LEAST_LINES, `${lines.length} lines`);
  assert.ok(argued.length + unfinished.length <= MOST_ARGUED, `${argued.length} argued, ${unfinished.length} not yet`);
  for (const { name, pages, lines: own } of GROUPS) {
    assert.equal(new Set(own.map(({ query }) => query)).size, own.length, name);
    const titles = new Set(pages.map(({ title }) => title));
    for (const { expected, query } of own) {
      for (const condition of expected.split(' and ')) {
        if (condition === 'nothing' || condition.startsWith('shows ')) continue;
        for (const title of condition.replace(/^(only|has|without) /, '').split('; ')) {
          assert.ok(titles.has(title), `${name}: ${query} names a page that is not there: ${title}`);
        }
      }
    }
  }
});
