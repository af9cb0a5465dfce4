import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { pino } from 'pino';
import { readConfig } from '../src/operation/config.ts';
import { startService } from '../src/operation/service/start-service.ts';
import { type Api, listAll, openApi } from './api.ts';
import { randomNumbers } from './corpus.ts';
import { serviceEnv } from './service-process.ts';

/** One request and the statement with which the service answers it. */
export interface Call {
  path: string;
  token: string;
  /** Cookie of a browser session, which asks for HTML and has no token. */
  cookie?: string;
  text: string;
  values: readonly unknown[];
}

export interface Measured {
  name: string;
  calls: Call[];
}

/** Number of different pages on which a read is measured, so that no single page decides the result. */
const VARIANTS = 200;

/** Returns the endpoints that read with one statement, with the paths on which they are measured. */
async function listReads(api: Api, workspace_id: string, wiki_id: string) {
  const wiki = `/v1/wikis/${wiki_id}`;
  const workspace = `/v1/workspaces/${workspace_id}`;
  const pages = (await listAll(api, `${wiki}/pages`)) as { page_id: string; path: string; parent_page_id: string }[];
  const random = randomNumbers(3);
  const some = Array.from({ length: VARIANTS }, () => pages[Math.floor(random() * pages.length)] ?? pages[0]);
  const [{ upload_id }] = await api.get(`${wiki}/jobs`);
  let middle = `${wiki}/pages?limit=50`;
  for (let seen = 0; seen < pages.length / 2; seen += 500) {
    const { next } = await api.page(middle.replace('limit=50', 'limit=500'));
    middle = next?.replace('limit=500', 'limit=50') ?? middle;
  }
  const { token: widget } = await api.post(`${workspace}/widget-token`, { widget: 'profile' });
  return [
    { name: 'page by id', paths: some.map((page) => `${wiki}/pages/${page?.page_id}`) },
    { name: 'page by path', paths: some.map((page) => `${wiki}/pages/path/${page?.path}`) },
    { name: 'pages, first 50', paths: [`${wiki}/pages`] },
    { name: 'pages, 50 in the middle', paths: [middle] },
    { name: 'sources, first 50', paths: [`${wiki}/sources`] },
    { name: 'jobs of the wiki', paths: [`${wiki}/jobs`] },
    { name: 'upload', paths: [`${wiki}/uploads/${upload_id}`] },
    { name: 'overview', paths: ['/v1/overview'] },
    { name: 'workspaces', paths: ['/v1/workspaces'] },
    { name: 'wikis of the workspace', paths: [`${workspace}/wikis`] },
    { name: 'members', paths: [`${workspace}/members`] },
    { name: 'profile widget', paths: ['/v1/widgets/profile'], token: widget as string },
  ];
}

/**
 * Returns every read with the statements that the service sends for it. They are observed in a second service on the
 * same database, in this process, which ends before the measurements. Throws an Error if a read sends more than one
 * statement.
 */
export async function captureRequests(
  dataDir: string,
  given: { token: string; workspace_id: string; wiki_id: string },
): Promise<Measured[]> {
  const { host, port, user, database } = runningPostgres(dataDir) ?? {};
  const DATABASE_URL = `postgres://${user}@${encodeURIComponent(host ?? '')}:${port}/${database}`;
  let sent: { text: string; values: readonly unknown[] }[] = [];
  const service = await startService(
    readConfig({ ...serviceEnv(dataDir), DATABASE_URL, ROLE: 'web' }),
    pino({ level: 'warn' }),
    { observe: (text, values) => sent.push({ text, values }) },
  );
  try {
    const measured: Measured[] = [];
    const reads = await listReads(openApi(service.address, given.token), given.workspace_id, given.wiki_id);
    for (const { name, paths, token = given.token } of reads) {
      const api = openApi(service.address, token);
      const calls: Call[] = [];
      for (const path of paths) {
        sent = [];
        await api.get(path);
        // The first request of a minute also records the use of the key.
        if (sent.length > 1) {
          sent = [];
          await api.get(path);
        }
        const [statement, more] = sent;
        if (!statement || more) throw new Error(`GET ${path} sent ${sent.length} statements: a read must send one`);
        calls.push({ path, token, ...statement });
      }
      measured.push({ name, calls });
    }
    return measured;
  } finally {
    await service.stop();
  }
}
