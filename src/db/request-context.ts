import pg from 'pg';

/**
 * The caller and the target of a request, as the database function `set_request_context` takes them. Row-level security
 * decides with them which rows a statement can see; see migrations/010_row_security.sql.
 */
export type RequestContext = (
  | { who: 'key'; hash: Buffer }
  /** The access token of a session. */
  | { who: 'session'; hash: Buffer }
  | { who: 'identity'; issuer: string; subject: string }
  /** The claims of a widget token. */
  | { who: 'widget'; user_id: string; workspace_id: string }
  /** A worker that runs a job of this wiki. */
  | { who: 'job' }
  /** The holder of a link's secret, without any other credential. */
  | { who: 'link' }
  /** The service itself, without a user. */
  | { who: 'service' }
) & {
  /** The object that the path names. */
  path?: { workspace_id: string } | { wiki_id: string } | undefined;
  /** The hash of an invitation's secret; it makes the invitation's workspace visible. */
  invitation?: Buffer | undefined;
  /** The id of a workspace that the request may create. */
  new_workspace_id?: string | undefined;
};

export const SERVICE: RequestContext = { who: 'service' };

/**
 * The last column is the tenant that the request works for: the workspace of the path, or else the user of the credential;
 * "" for none.
 */
const TEXT = `
  select set_request_context($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::bytea, $8::text),
    set_config('statement_timeout', $9::text, true),
    coalesce(nullif(case when $5 is null and $6 is null then '' else current_setting('ibid.workspaces', true) end, ''),
      current_setting('ibid.user', true))`;
const NAME = 'set_request_context';
const TENANT_COLUMN = 2;

/** How long the statement that follows may take, such as 30s or 2500ms. */
export type StatementTimeout = `${number}s` | `${number}ms`;

/** Sent once on each new connection to prepare `set_request_context`. It has no effect outside a transaction. */
export const PREPARE_CONTEXT = { name: NAME, text: TEXT, values: valuesOf(SERVICE, '30s') };

function valuesOf(context: RequestContext, timeout: StatementTimeout): (string | Buffer | null)[] {
  const [name, second] =
    context.who === 'identity'
      ? [context.issuer, context.subject]
      : context.who === 'widget'
        ? [context.user_id, context.workspace_id]
        : [null, null];
  const { path, invitation = null, new_workspace_id = null } = context;
  return [
    context.who,
    context.who === 'key' || context.who === 'session' ? context.hash : null,
    name,
    second,
    path && 'workspace_id' in path ? path.workspace_id : null,
    path && 'wiki_id' in path ? path.wiki_id : null,
    invitation,
    new_workspace_id,
    timeout,
  ];
}

/** The undocumented part of the driver's connection and query classes; the driver's own cursors rely on it too. */
interface Wire {
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(message: Record<string, never>): void;
}
interface Messages {
  prepare(wire: Wire): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}
const DriverQuery = pg.Query as unknown as new (config: pg.QueryConfig) => Messages;

/**
 * A prepared statement preceded by `set_request_context`, sent in one round trip. One Sync follows both, so they are
 * one transaction: if `set_request_context` fails, the statement does not run, and the settings end with the
 * transaction. request-context.test.ts lists what this needs from the driver; compare it when the driver's version
 * changes.
 */
class ContextQuery extends DriverQuery {
  readonly #context: RequestContext;
  readonly #options: ContextOptions;
  #isEntering = true;

  constructor(context: RequestContext, config: pg.QueryConfig, options: ContextOptions) {
    super(config);
    this.#context = context;
    this.#options = options;
  }

  override prepare(wire: Wire): void {
    const values = valuesOf(this.#context, this.#options.timeout);
    wire.bind({ statement: NAME, values, valueMapper: (value) => value });
    wire.execute({});
    super.prepare(wire);
  }

  override handleDataRow(message: { fields: (string | null)[] }): void {
    if (this.#isEntering) this.#options.onTenant?.(message.fields[TENANT_COLUMN] ?? '');
    else super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#isEntering) this.#isEntering = false;
    else super.handleCommandComplete(message, wire);
  }
}

export interface ContextOptions {
  timeout: StatementTimeout;
  /** Called with the tenant that the request works for; "" for none. */
  onTenant?: (tenant: string) => void;
}

type Send = (query: unknown, values: undefined, done: (error: Error | null, result: pg.QueryResult) => void) => void;

/** Sends a prepared statement in a request context; inside a transaction the context holds until its end. */
export function sendInContext(
  to: pg.PoolClient,
  context: RequestContext,
  statement: pg.QueryConfig,
  options: ContextOptions = { timeout: '30s' },
): Promise<pg.QueryResult> {
  const send: Send = to.query.bind(to) as unknown as Send;
  return new Promise((resolve, reject) => {
    send(new ContextQuery(context, statement, options), undefined, (error, result) =>
      error ? reject(error) : resolve(result),
    );
  });
}
