import type { Filled } from './fill-service.ts';

/** A filled service, and a caller who owns its data. */
export interface Grown extends Filled {
  name: string;
  pid: number;
  address: string;
  token: string;
}

/**
 * Sends a request, or a short sequence of requests. Throws an Error for an answer other than a success, or other than
 * 304 if that is expected.
 */
export type Measured = (to: Grown) => Promise<unknown>;

const etags = new Map<string, string>();
const revisions = new Map<string, { markdown: string; revision: number }>();
let count = 0;

async function send(to: Grown, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(to.address + path, {
    method,
    headers: { authorization: `Bearer ${to.token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status >= 400) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
  return { status: answer.status, headers: answer.headers, text };
}

const get =
  (path: (to: Grown) => string, headers?: Record<string, string>): Measured =>
  (to) =>
    send(to, 'GET', path(to), undefined, headers);
const wiki = ({ wiki_id }: Grown) => `/v1/wikis/${wiki_id}`;
const workspace = ({ workspace_id }: Grown) => `/v1/workspaces/${workspace_id}`;
const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
/** Returns the id of a page that every service has, from the first 900. */
const somePage = () => `page_${2 + ((count++ * 7) % 900)}`;

/** A page last changed by another member than the caller. */
export const PAGE_OF_ANOTHER = 'page_55';

export const READS: Record<string, Measured> = {
  me: get(() => '/v1/me'),
  'page by id': get((to) => `${wiki(to)}/pages/${somePage()}`),
  'page by id, 304': async (to) => {
    const path = `${wiki(to)}/pages/page_50`;
    const known = etags.get(to.name) ?? String((await send(to, 'GET', path)).headers.get('etag'));
    etags.set(to.name, known);
    const { status } = await send(to, 'GET', path, undefined, { 'if-none-match': known });
    if (status !== 304) throw new Error(`${path} answers ${status} to who has it`);
  },
  'page as HTML': get((to) => `${wiki(to)}/pages/${somePage()}`, { accept: 'text/html' }),
  'page by path': get((to) => `${wiki(to)}/pages/path/p1`),
  'what surrounds a page': get((to) => `${wiki(to)}/pages/${PAGE_OF_ANOTHER}/surroundings`),
  backlinks: get((to) => `${wiki(to)}/pages/${PAGE_OF_ANOTHER}/backlinks`),
  'revisions of a page': get((to) => `${wiki(to)}/pages/${PAGE_OF_ANOTHER}/revisions`),
  'pages, first 50': get((to) => `${wiki(to)}/pages`),
  'pages changed last': get((to) => `${wiki(to)}/recent-pages`),
  'branches around a page': get((to) => `${wiki(to)}/branches?page_id=page_55`),
  'tree of all pages': get((to) => `${wiki(to)}/tree`),
  'broken links, first 50': get((to) => `${wiki(to)}/broken-links`),
  'sources, first 50': get((to) => `${wiki(to)}/sources`),
  'jobs, first 50': get((to) => `${wiki(to)}/jobs`),
  suggest: get((to) => `${wiki(to)}/suggest?query=zyg`),
  overview: get(() => '/v1/overview'),
  workspaces: get(() => '/v1/workspaces'),
  'members, all': get((to) => `${workspace(to)}/members`),
  'members, first 50': get((to) => `${workspace(to)}/members?limit=50`),
  'a member by user': get((to) => `${workspace(to)}/members?user_id=user_member5`),
  'audit, first 50': get((to) => `${workspace(to)}/audit-events`),
  // After the first records, and before the time of the fill.
  'audit, an hour long ago': get(
    (to) => `${workspace(to)}/audit-events?after=2020-01-01T00:00:00Z&before=2020-01-01T01:00:00Z`,
  ),
  'audit, the last hour': get((to) => `${workspace(to)}/audit-events?after=${hourAgo}`),
  'audit, a type that is not there': get((to) => `${workspace(to)}/audit-events?type=none.none`),
  'audit, a user who is not there': get((to) => `${workspace(to)}/audit-events?actor_id=user_none`),
};

export const WRITES: Record<string, Measured> = {
  edit: async (to) => {
    const path = `${wiki(to)}/pages/page_60`;
    const known = revisions.get(to.name) ?? JSON.parse((await send(to, 'GET', path)).text);
    const markdown = `${known.markdown}\n\nMore ${count++}.`;
    const { text } = await send(to, 'PATCH', path, { markdown, base_revision: known.revision });
    revisions.set(to.name, { markdown: known.markdown, revision: JSON.parse(text).revision });
  },
  create: (to) =>
    send(to, 'POST', `${wiki(to)}/pages`, {
      title: `New ${count++}`,
      markdown: 'See [it](p1).',
      parent_page_id: 'page_1',
    }),
  'delete and restore': async (to) => {
    await send(to, 'DELETE', `${wiki(to)}/pages/page_70`);
    await send(to, 'POST', `${wiki(to)}/pages/page_70/restore`);
  },
  move: (to) =>
    send(to, 'PATCH', `${wiki(to)}/pages/page_71`, { parent_page_id: count++ % 2 === 0 ? 'page_1' : 'page_101' }),
};
