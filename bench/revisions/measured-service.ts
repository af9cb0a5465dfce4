import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { openApi } from '../api.ts';
import { generatePages, randomNumbers, someWords } from '../corpus.ts';
import { type Load, startLoad } from '../load.ts';
import { cpuOf } from '../processes.ts';
import { makeKeyFor, type ServiceProcess, startServiceProcess } from '../service-process.ts';
import { untilSettled } from '../settled.ts';
import { signIn } from '../sign-in.ts';

/** Pages of one upload. */
const UPLOAD_FILES = 500;
/** Number of pages on which a read is measured; at most the page size of a list. */
const VARIANTS = 200;
const EDITED = 64;

/** A kind of request, and the paths on which it is measured. */
interface Measured {
  name: string;
  paths: string[];
  token: string;
  /** Cookie of a browser session, which asks for HTML. */
  cookie?: string;
  /** The paths are pages, and each request is an edit of one. */
  edits?: true;
}

/**
 * CPU time of a round of requests, in ms: of the service's process, and of its descendants, which are PostgreSQL and
 * renderers.
 */
export interface Slice {
  node_ms: number;
  postgres_ms: number;
  requests: number;
}

/** A service of one revision with its own data, and the process that sends it requests. */
export interface MeasuredService {
  pid: number;
  requests: Measured[];
  /** Sets the requests that `slice` sends. */
  choose(measured: Measured): Promise<void>;
  /** Sends requests for `ms`, in sequence on each connection. */
  slice(connections: number, ms: number): Promise<Slice>;
  stop(): Promise<void>;
}

/** Starts the service of a checkout on a new DATA_DIR, and fills it with the same wiki as any other. */
export async function openMeasured(
  root: string,
  dataDir: string,
  corpus: { pages: number; page_bytes: number },
): Promise<MeasuredService> {
  const service = await startServiceProcess(dataDir, [], {}, root);
  const load = startLoad();
  try {
    const requests = await fill(service, dataDir, root, corpus);
    const connection = runningPostgres(dataDir);
    if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
    // Autovacuum leaves smaller tables alone.
    if (corpus.pages >= 100) await untilSettled(connection);
    return measured(service, load, requests);
  } catch (error) {
    load.close();
    await service.stop();
    throw error;
  }
}

function measured(service: ServiceProcess, load: Load, requests: Measured[]): MeasuredService {
  return {
    pid: service.pid,
    requests,
    async choose({ paths, token, cookie, edits = false }) {
      const calls = paths.map((path) => ({ path, token, ...(cookie && { cookie }), text: '', values: [] }));
      await load.order({ kind: 'calls', port: service.port, connection: {}, pool: 1, calls, edits });
    },
    async slice(connections, ms) {
      const before = cpuOf(service.pid);
      const round = await load.order({ kind: 'service', width: connections, ms });
      const after = cpuOf(service.pid);
      if (!round) throw new Error('the load process returned no figures');
      return {
        node_ms: (after.own_ms - before.own_ms) / round.requests,
        postgres_ms: (after.children_ms - before.children_ms) / round.requests,
        requests: round.requests,
      };
    },
    async stop() {
      load.close();
      await service.stop();
    },
  };
}

async function fill(
  service: ServiceProcess,
  dataDir: string,
  root: string,
  { pages, page_bytes }: { pages: number; page_bytes: number },
): Promise<Measured[]> {
  const token = await makeKeyFor(dataDir, 'bench@example.com', root);
  const api = openApi(service.address, token);
  const { workspace, overview } = await api.post('/v1/onboarding');
  const { wiki_id } = overview.wikis[0];
  for (let from = 0; from < pages; from += UPLOAD_FILES) {
    const count = Math.min(UPLOAD_FILES, pages - from);
    await api.upload(wiki_id, generatePages({ from, count, bytes: page_bytes }));
  }
  const at = `/v1/workspaces/${workspace.workspace_id}`;
  for (let i = 0; i < 10; i += 1) {
    await api.post(`${at}/members/invite`, { email: `guest-${i}@example.com`, role: 'member' });
  }
  const wiki = `/v1/wikis/${wiki_id}`;
  const listed: { page_id: string; path: string }[] = await api.get(`${wiki}/pages?limit=500`);
  const random = randomNumbers(3);
  const some = Array.from({ length: VARIANTS }, () => listed[Math.floor(random() * listed.length)]);
  const [{ upload_id }] = await api.get(`${wiki}/jobs`);
  const { token: widget } = await api.post(`${at}/widget-token`, { widget: 'profile' });
  const paths: Record<string, string[]> = {
    'page by id': some.map((page) => `${wiki}/pages/${page?.page_id}`),
    'page by path': some.map((page) => `${wiki}/pages/path/${page?.path}`),
    'pages, first 50': [`${wiki}/pages`],
    'pages, 50 by offset': [`${wiki}/pages?offset=${Math.floor(pages / 2)}`],
    tree: [`${wiki}/tree`],
    'sources, first 50': [`${wiki}/sources`],
    'jobs of the wiki': [`${wiki}/jobs`],
    upload: [`${wiki}/uploads/${upload_id}`],
    overview: ['/v1/overview'],
    workspaces: ['/v1/workspaces'],
    'wikis of the workspace': [`${at}/wikis`],
    members: [`${at}/members`],
    search: someWords(VARIANTS).map((word) => `${wiki}/pages/search?query=${word}`),
  };
  const home = `/${workspace.slug}/${overview.wikis[0].slug}`;
  const browser = { token: '', cookie: await signIn(dataDir, service.address) };
  return [
    ...Object.entries(paths).map(([name, each]) => ({ name, paths: each, token })),
    { name: 'page in the browser', paths: some.map((page) => `${home}/${page?.path}`), ...browser },
    {
      name: 'search in the browser',
      paths: someWords(VARIANTS).map((word) => `${home}/-/search?query=${word}`),
      ...browser,
    },
    { name: 'profile widget', paths: ['/v1/widgets/profile'], token: widget },
    {
      name: 'edit',
      paths: listed.slice(0, EDITED).map(({ page_id }) => `${wiki}/pages/${page_id}`),
      token,
      edits: true,
    },
  ];
}
