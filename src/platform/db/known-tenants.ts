import { makeRoom } from '../core/make-room.ts';
import type { RequestContext } from './request-context.ts';

/** Maximum number of remembered contexts; the oldest ones are evicted first. */
const KNOWN_MAX = 20_000;

/** Callers whose credential this process has not confirmed yet; together they share the limits of one tenant. */
const UNKNOWN = 'unknown';

/** Statements of the service itself. */
export const SERVICE_ITSELF = '';

/**
 * Maps requests to tenants, as far as this process knows them without asking the database: the workspace of the path if
 * the caller is a member, else the caller. Only affects scheduling, never access.
 */
export interface KnownTenants {
  of(context: RequestContext): string;
  /** Like `of`, but returns undefined if the tenant is unknown. */
  find(context: RequestContext): string | undefined;
  /** Remembers the tenant that the database returned for the context; "" for none. */
  learn(context: RequestContext, tenant: string): void;
}

export function openKnownTenants(): KnownTenants {
  const known = new Map<string, string>();
  return {
    find(context) {
      const key = keyOf(context);
      return key === undefined ? undefined : known.get(key);
    },
    of(context) {
      const key = keyOf(context);
      return key === undefined ? SERVICE_ITSELF : (known.get(key) ?? UNKNOWN);
    },
    learn(context, tenant) {
      const key = keyOf(context);
      if (key === undefined || tenant === '' || known.get(key) === tenant) return;
      makeRoom(known, KNOWN_MAX);
      known.set(key, tenant);
    },
  };
}

function keyOf(context: RequestContext): string | undefined {
  const { path } = context;
  const id = path === undefined ? '' : 'wiki_id' in path ? path.wiki_id : path.workspace_id;
  switch (context.who) {
    case 'key':
    case 'session':
      return id + context.hash.toString('latin1');
    case 'identity':
      return `${id} ${context.issuer} ${context.subject}`;
    case 'widget':
      return `${id} ${context.user_id}`;
    case 'job':
      return id;
    default:
      return undefined;
  }
}
