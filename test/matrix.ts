import { ENDPOINTS } from '../src/app.ts';
import { permissionOf } from '../src/platform/access/access-rule.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { EVERYTHING, everyNth, turnsOf } from './extent.ts';
import { type CredentialKind, credentialKinds, type MatrixActor, makeActors } from './matrix-actors.ts';
import { AUDIENCE } from './openid-provider.ts';
import { existingParams, type Ids, nameOf, propertiesOf, validRequest, withBody } from './requests.ts';
import { freshWiki, openTenants, type Tenants } from './tenants.ts';

/** One request of the matrix and its answer: the status, and the error code of a refusal. */
export interface Cell {
  endpoint: Endpoint;
  target: string;
  credential: string;
  /** Undefined without a credential. */
  actor: MatrixActor | undefined;
  status: number;
  outcome: string;
}

export interface Matrix {
  tenants: Tenants;
  actors: MatrixActor[];
  /** Names of the kinds of credentials, in the order of `credentialKinds`. */
  kinds: string[];
  cells: Cell[];
}

const CONCURRENCY = 16;

/** Calls every endpoint as every actor, with every kind of credential, for every target. */
export async function runMatrix(): Promise<Matrix> {
  // Each connection plans each statement itself, and most statements run only a few times: with ten connections,
  // PostgreSQL spent a sixth of its time planning.
  const tenants = await openTenants({ OIDC_AUDIENCE: AUDIENCE, DATABASE_CONNECTIONS: '4' });
  const actors = await makeActors(tenants);
  const kinds = credentialKinds(tenants);
  const pendingOf = async (endpoints: Endpoint[], made = kinds) =>
    (await Promise.all(endpoints.map((endpoint) => requestsOf(tenants, actors, made, endpoint)))).flat();
  const cells: Cell[] = [];
  const made = kinds.map(madeOnce);
  // The first sign-in at an issuer sets a user's name. Do it first, so that the user's permissions to change it do not
  // depend on the order of cells.
  for (const actor of actors) await made.find(({ name }) => name === 'identity token')?.make(actor, '', '');
  const pending = await pendingOf(
    ENDPOINTS.filter((endpoint) => !signsInOrOut(endpoint)),
    made,
  );
  await inParallel(pending, async (ask) => cells.push(await ask()));
  for (const ask of await pendingOf(ENDPOINTS.filter(signsInOrOut))) cells.push(await ask());
  for (const ask of await leavingRequests(tenants, actors, kinds)) cells.push(await ask());
  return { tenants, actors, kinds: kinds.map(({ name }) => name), cells };
}

/**
 * Returns whether a request must be sent alone: signing in uses the newest link, and signing out ends other sessions.
 */
function signsInOrOut({ path }: Endpoint): boolean {
  return /^\/v1\/(auth\/|me\/(password|connection)|(me|widgets\/profile)\/sessions\/)/.test(path);
}

/** Makes a credential once for each actor, unless an endpoint may end it: making one costs as much as a request. */
function madeOnce(kind: CredentialKind): CredentialKind {
  if (!['session', 'identity token', 'workspace key'].includes(kind.name)) return kind;
  const made = new Map<MatrixActor, Promise<string>>();
  return {
    ...kind,
    make(actor, ...rest) {
      const credential = made.get(actor) ?? kind.make(actor, ...rest);
      made.set(actor, credential);
      return credential;
    },
  };
}

type CellRequest = () => Promise<Cell>;
type IdsOf = (actor: MatrixActor | undefined) => Promise<Ids>;

async function requestsOf(
  tenants: Tenants,
  actors: MatrixActor[],
  kinds: CredentialKind[],
  endpoint: Endpoint,
): Promise<CellRequest[]> {
  const permission = permissionOf(endpoint.access);
  const [owner] = actors;
  const targets = await targetsOf(tenants, actors, endpoint);
  const requests: CellRequest[] = [];
  for (const [target, idsOf] of Object.entries(targets)) {
    requests.push(() => runCell(tenants, endpoint, target, 'none', undefined, idsOf, async () => undefined));
    for (const { name, live, make } of kinds) {
      const isWidgets = name.endsWith('widget token');
      // A widget token names its own workspace, and only widget endpoints accept it.
      if (live !== 'everywhere' && target !== 'own' && !(live === 'dead' && target === 'unknown')) continue;
      if (isWidgets && endpoint.access.on !== 'widget' && target !== 'own') continue;
      const callers = live === 'dead' || endpoint.access.on === 'anyone' ? [owner] : actors;
      for (const actor of callersOf(callers, target, name, live === 'dead')) {
        const token = async (ids: Ids) => make(actor as MatrixActor, permission, ids.workspace_id);
        requests.push(() => runCell(tenants, endpoint, target, name, actor, idsOf, token));
      }
    }
  }
  return requests;
}

const nextActor = turnsOf(1);
const isTurnOfKind = everyNth(5);
const isTurnOfDead = everyNth(3);

/**
 * Returns the actors who call a target with a kind of credential. A run that tries everything uses all actors.
 * Otherwise:
 * - a key: all actors on their own target; elsewhere the first actor and another one in rotation
 * - another valid kind: the first actor on the own target, and on any target at every fifth call an actor in rotation
 * - a dead credential: the first actor, at every third call
 */
function callersOf(
  actors: readonly (MatrixActor | undefined)[],
  target: string,
  kind: string,
  isDead: boolean,
): readonly (MatrixActor | undefined)[] {
  const isKey = kind === 'personal key';
  if (EVERYTHING || (target === 'own' && isKey)) return actors;
  const [first] = actors;
  if (isDead) return isTurnOfDead() ? [first] : [];
  if (isKey) return [first, ...nextActor(actors.slice(1))];
  const inTurn = isTurnOfKind() ? nextActor(actors.slice(1)) : [];
  return target === 'own' ? [first, ...inTurn] : inTurn;
}

/** Returns the ids of a request for each kind of target that the endpoint can have. */
async function targetsOf(
  { a, b, unknown, fresh, world, owner }: Tenants,
  actors: MatrixActor[],
  endpoint: Endpoint,
): Promise<Record<string, IdsOf>> {
  const [first = '', ...children] = existingParams(endpoint);
  const { access } = endpoint;
  const own: IdsOf = async (actor) => withoutEffect(endpoint, await fresh(endpoint, actor ?? owner), unknown);
  if ((access.on === 'caller' && first === '') || access.on === 'anyone') return { own };
  if (access.on === 'widget') return { own, foreign: async () => b, unknown: async () => unknown };
  const malformed: IdsOf = async () => ({ ...a, [first]: "' or 1=1--" });
  const targets: Record<string, IdsOf> = { own, foreign: async () => b, unknown: async () => unknown, malformed };
  for (const child of children) {
    targets[`own, foreign ${child}`] = async () => ({ ...a, [child]: b[child] ?? '' });
    targets[`own, unknown ${child}`] = async () => ({ ...a, [child]: unknown[child] ?? '' });
    targets[`foreign, own ${child}`] = async () => ({ ...b, [child]: a[child] ?? '' });
  }
  if (access.on === 'wiki' && access.orCreator) {
    const made = new Map<string, string>();
    for (const { user_id } of actors) made.set(user_id, await freshWiki(world.db, a.workspace_id, user_id));
    targets['own, created by the caller'] = async (actor) => {
      const user_id = actor?.user_id ?? '';
      // After a permitted caller has deleted the wiki, the call with the next credential needs a new one.
      const isGone = endpoint.method === 'DELETE' && made.has(user_id);
      const wiki_id = isGone ? await freshWiki(world.db, a.workspace_id, user_id) : made.get(user_id);
      return { ...a, wiki_id: wiki_id ?? a.wiki_id };
    };
  }
  return targets;
}

/**
 * Returns requests in which each member leaves by the path of their own membership. They run one after another, and
 * each member is restored before the next request.
 */
async function leavingRequests(
  tenants: Tenants,
  actors: MatrixActor[],
  kinds: CredentialKind[],
): Promise<CellRequest[]> {
  const { a, unknown, world } = tenants;
  const { db } = world;
  const memberships = await db.query<{ membership_id: string; user_id: string; role: string }>(
    sql`select membership_id, user_id, role from memberships where workspace_id = ${a.workspace_id} and status = 'active'`,
  );
  const asks: CellRequest[] = [];
  for (const endpoint of ENDPOINTS.filter(mayLeave)) {
    for (const { name, make } of kinds.filter(({ live }) => live !== 'dead')) {
      for (const actor of actors) {
        const own = memberships.find(({ user_id }) => user_id === actor.user_id);
        const ids = async () => ({ ...a, membership_id: own?.membership_id ?? unknown.membership_id });
        const token = () => make(actor, permissionOf(endpoint.access), a.workspace_id);
        asks.push(async () => {
          const cell = await runCell(tenants, endpoint, 'own, own membership_id', name, actor, ids, token);
          if (own && cell.status < 300) {
            await db.query(sql`
              insert into memberships (membership_id, workspace_id, user_id, role)
              values (${own.membership_id}, ${a.workspace_id}, ${own.user_id}, ${own.role})`);
          }
          return cell;
        });
      }
    }
  }
  return asks;
}

/** Returns whether members may call the endpoint for their own membership. */
function mayLeave({ access }: Endpoint): boolean {
  const rule = access.on === 'widget' ? access.instead : access;
  return rule?.on === 'workspace' && rule.orOwnMembership;
}

/**
 * Puts an unknown id into the body, so that a request that would change the actors passes the guard and then fails with
 * 400.
 */
function withoutEffect(endpoint: Endpoint, ids: Ids, unknown: Ids): Ids {
  const inBody = Object.keys(propertiesOf(endpoint.body)).filter((name) => name.endsWith('_id') && name in unknown);
  return { ...ids, ...Object.fromEntries(inBody.map((name) => [name, unknown[name] ?? ''])) };
}

async function runCell(
  tenants: Tenants,
  endpoint: Endpoint,
  target: string,
  credential: string,
  actor: MatrixActor | undefined,
  idsOf: IdsOf,
  tokenOf: (ids: Ids) => Promise<string | undefined>,
): Promise<Cell> {
  const ids = await idsOf(actor);
  let request = validRequest(endpoint, ids, await tokenOf(ids));
  // An upload without a file passes the guard and then fails, so it creates no job.
  if (endpoint.consumes === 'multipart') request = withBody(request, '--x--\r\n', 'multipart/form-data; boundary=x');
  const { status, body } = await tenants.send(request, endpoint);
  const outcome = status < 400 ? String(status) : `${status} ${body.error}`;
  return { endpoint, target, credential, actor, status, outcome };
}

async function inParallel<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** Formats the matrix: for each endpoint and target, the answer to every actor. */
export function matrixText(matrix: Matrix): string {
  const { actors, cells } = matrix;
  const blocks = ENDPOINTS.map((endpoint) => {
    const own = cells.filter((cell) => cell.endpoint === endpoint);
    const targetsOf = new Map<string, string[]>();
    for (const target of [...new Set(own.map((cell) => cell.target))].toSorted(byTarget)) {
      for (const answers of targetLines(
        matrix,
        own.filter((cell) => cell.target === target),
      )) {
        targetsOf.set(answers, [...(targetsOf.get(answers) ?? []), target]);
      }
    }
    const lines = [...targetsOf].map(([answers, targets]) => `  ${targets.join(' | ')}: ${answers}`);
    return [`${nameOf(endpoint)}   ${permissionOf(endpoint.access)}`.trimEnd(), ...lines].join('\n');
  });
  return `${explanation(actors)}\n${blocks.join('\n\n')}\n`;
}

/**
 * Parses a text of `matrixText`. The returned function looks up the answer to a cell; undefined if the text lacks it.
 */
export function outcomesIn(text: string): (cell: Cell) => string | undefined {
  const outcomes = new Map<string, string>();
  const key = (...parts: string[]) => parts.join('\n');
  for (const block of text.split('\n\n')) {
    const [head = '', ...lines] = block.split('\n');
    const [name = ''] = head.split('   ');
    for (const line of lines) {
      const [, targets = '', answers = '', credentials = ''] = /^ {2}(.+?): (.+) {3}(.+)$/.exec(line) ?? [];
      for (const answer of answers.split(', ')) {
        const [, letters = '', outcome = ''] = /^(?:([A-Za-z]+) )?(\d.*)$/.exec(answer) ?? [];
        for (const target of targets.split(' | '))
          for (const credential of credentials.split(', '))
            for (const letter of letters === '' ? [''] : letters)
              outcomes.set(key(name, target, credential, letter), outcome);
      }
    }
  }
  return ({ endpoint, target, credential, actor }) => {
    const at = [nameOf(endpoint), target, credential] as const;
    return outcomes.get(key(...at, '')) ?? outcomes.get(key(...at, actor?.letter ?? ''));
  };
}

const TARGETS = ['own', 'foreign', 'unknown', 'malformed'];

/**
 * Sorts targets: simple targets first, then paths whose parts belong to different owners. Answers arrive in any order.
 */
function byTarget(one: string, other: string): number {
  const place = (target: string) => (TARGETS.includes(target) ? TARGETS.indexOf(target) : TARGETS.length);
  return place(one) - place(other) || (one < other ? -1 : 1);
}

/** Formats the answers for a target, one line for all kinds of credentials with the same answers. */
function targetLines({ actors, kinds }: Matrix, cells: Cell[]): string[] {
  const alike = new Map<string, string[]>();
  for (const credential of ['none', ...kinds].filter((kind) => cells.some((cell) => cell.credential === kind))) {
    const answers = answersOf(
      actors,
      cells.filter((cell) => cell.credential === credential),
    );
    alike.set(answers, [...(alike.get(answers) ?? []), credential]);
  }
  return [...alike].map(([answers, named]) => `${answers}   ${named.join(', ')}`);
}

/** Formats answers as `OA 200, DBMVsrid 403 forbidden`, without letters if all actors get the same answer. */
function answersOf(actors: MatrixActor[], cells: Cell[]): string {
  const outcomes = [...new Set(cells.map(({ outcome }) => outcome))].toSorted();
  const [only, ...others] = outcomes;
  if (only !== undefined && others.length === 0) return only;
  const lettersOf = (outcome: string) =>
    actors.filter((actor) => cells.some((cell) => cell.actor === actor && cell.outcome === outcome));
  return outcomes
    .map(
      (outcome) =>
        `${lettersOf(outcome)
          .map(({ letter }) => letter)
          .join('')} ${outcome}`,
    )
    .join(', ');
}

function explanation(actors: MatrixActor[]): string {
  const letters = actors.map(({ letter, name }) => `  ${letter}  ${name}`).join('\n');
  return `The status of every endpoint, called by every actor with every kind of credential for every kind of target.
\`npm run accept\` rewrites it; a test compares.

${letters}

A line has the targets, the answers by actor (all actors, where there are no letters), and the credentials that it holds
for. A 400 or a 409 comes from behind the guard: the request was built so that it changes nothing. After an endpoint comes
the permission that it requires, which is what "this" in the name of a key means.
`;
}
