import pg from 'pg';

/**
 * Who asks and for what, as the database's function `set_request_context` takes it. From it row-level security decides which rows a
 * statement can see; see migrations/010_row_security.sql.
 */
export type RequestContext = (
  | { who: 'key'; hash: Buffer }
  /** The access token of a session. */
  | { who: 'session'; hash: Buffer }
  | { who: 'identity'; issuer: string; subject: string }
  /** The claims of a widget token of ours. */
  | { who: 'widget'; user_id: string; workspace_id: string }
  /** A worker on a job of this wiki. */
  | { who: 'job' }
  /** Whoever has the secret of a link, and nothing else. */
  | { who: 'link' }
  /** The service itself, for nobody in particular. */
  | { who: 'service' }
) & {
  /** What the path names. */
  path?: { workspace_id: string } | { wiki_id: string } | undefined;
  /** The hash of an invitation's secret, which opens the workspace that it is for. */
  invitation?: Buffer | undefined;
  /** The id of a workspace that is about to be made. */
  new_workspace_id?: string | undefined;
};

export const SERVICE: RequestContext = { who: 'service' };

const TEXT =
  'select set_request_context($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::bytea, $8::text)';
const NAME = 'set_request_context';

/** What each new connection is asked once, so that `set_request_context` is prepared there. Nothing comes of it outside a transaction. */
export const PREPARE_CONTEXT = { name: NAME, text: TEXT, values: valuesOf(SERVICE) };

function valuesOf(scope: RequestContext): (string | Buffer | null)[] {
  const [name, second] =
    scope.who === 'identity'
      ? [scope.issuer, scope.subject]
      : scope.who === 'widget'
        ? [scope.user_id, scope.workspace_id]
        : [null, null];
  const { path, invitation = null, new_workspace_id = null } = scope;
  return [
    scope.who,
    scope.who === 'key' || scope.who === 'session' ? scope.hash : null,
    name,
    second,
    path && 'workspace_id' in path ? path.workspace_id : null,
    path && 'wiki_id' in path ? path.wiki_id : null,
    invitation,
    new_workspace_id,
  ];
}

/** The part of the driver's connection and query that it does not describe, and that its cursors stand on too. */
interface Wire {
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(message: Record<string, never>): void;
}
interface Messages {
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}
const DriverQuery = pg.Query as unknown as new (config: pg.QueryConfig) => Messages;

/**
 * A prepared statement with `set_request_context` before it, sent in one go. There is one Sync behind both, so they are one
 * transaction: where `set_request_context` fails the statement does not run, and what was set ends with it. What it needs of the
 * driver is in request-context.test.ts, to be compared when the driver's version changes.
 */
class ContextQuery extends DriverQuery {
  readonly #scope: RequestContext;
  #isEntering = true;

  constructor(scope: RequestContext, config: pg.QueryConfig) {
    super(config);
    this.#scope = scope;
  }

  override prepare(wire: Wire): void {
    wire.bind({ statement: NAME, values: valuesOf(this.#scope), valueMapper: (value) => value });
    wire.execute({});
    super.prepare(wire);
  }

  override handleDataRow(message: unknown): void {
    if (!this.#isEntering) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#isEntering) this.#isEntering = false;
    else super.handleCommandComplete(message, wire);
  }
}

type Send = (query: unknown, values: undefined, done: (error: Error | null, result: pg.QueryResult) => void) => void;

/** Sends a prepared statement in a scope; inside a transaction the scope then holds until its end. */
export function sendInContext(
  to: pg.PoolClient,
  scope: RequestContext,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult> {
  const send: Send = to.query.bind(to) as unknown as Send;
  return new Promise((resolve, reject) => {
    send(new ContextQuery(scope, statement), undefined, (error, result) => (error ? reject(error) : resolve(result)));
  });
}
