import { makeRoom } from '../core/make-room.ts';
import type { RequestContext } from './request-context.ts';

/** Maximum number of remembered contexts; the oldest ones are forgotten first. */
const KNOWN_MAX = 20_000;

/** Callers whose credential the database has not confirmed in this process: they share what one tenant may have. */
const UNKNOWN = 'unknown';

/** Statements of the service itself. */
export const SERVICE_ITSELF = '';

/**
 * Which tenant a request works for, as far as a process knows it before it asks the database: the workspace of its path if
 * the caller is a member of it, else the caller. It decides about order only, never about access.
 */
export interface KnownTenants {
  of(context: RequestContext): string;
  /** The same, undefined where no tenant is known. */
  find(context: RequestContext): string | undefined;
  /** Remembers what the database has said about the context; "" for nothing. */
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
