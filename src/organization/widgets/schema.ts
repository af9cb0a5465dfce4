import { type Static, Type } from 'typebox';
import type { Credential } from '../../platform/access/credential.ts';
import { claimsOf } from '../../platform/access/credential-kinds.ts';
import { effectivePermissions, type Permission } from '../../platform/access/roles.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { isTrustworthy } from '../../platform/core/trustworthy-url.ts';
import { raw, type Sql } from '../../platform/db/sql.ts';

/** Maximum number of origins that a workspace allows. */
export const ORIGINS_MAX = 50;

export const WidgetOrigins = Record(
  {
    workspace_id: Id,
    widget_origins: Type.Array(Type.String(), {
      description:
        'Sites as `https://host[:port]`, sorted; `http` only for localhost. Only their pages may show the widgets.',
    }),
  },
  { title: 'WidgetOrigins' },
);
export type WidgetOrigins = Static<typeof WidgetOrigins>;

export const exampleWidgetOrigins: WidgetOrigins = {
  workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
  widget_origins: ['https://intranet.example.com'],
};

/** Returns whether the token names an origin, which lets its user act through the widget. */
export function canAct(credential: Credential): boolean {
  return (claimsOf(credential)?.origin ?? null) !== null;
}

export const Permissions = Type.Array(Type.String(), {
  description: "The user's permissions in the widget, sorted; [] if the token has no origin.",
});

export function permissionsOf(
  credential: Credential,
  holder: { role: string; granted: string[] | null },
): Permission[] {
  return canAct(credential) ? effectivePermissions(holder.role, holder.granted) : [];
}

/** Columns of WidgetOrigins, from a workspace `w`. */
export const widgetOriginsColumns: Sql = raw('w.workspace_id, w.widget_origins');

/**
 * Normalizes origins as browsers write them, deduplicated and sorted. Returns 400 `invalid_request` for anything else.
 */
export function readOrigins(given: readonly string[]): string[] | ApiError {
  const origins = new Set<string>();
  for (const text of given) {
    const origin = readOrigin(text.trim());
    if (origin === undefined) {
      return new ApiError(
        'invalid_request',
        `"${text.slice(0, 100)}" is not an origin. Use scheme, host and any non-default port: https://www.example.com (http only for localhost).`,
      );
    }
    origins.add(origin);
  }
  return [...origins].sort();
}

/** A host in a URL: labels of letters, digits, hyphens and underscores, or an IP address, with an optional port. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d+)?$/;

function readOrigin(text: string): string | undefined {
  if (text.length > 300 || !/^https?:\/\/[^/?#@*\\\s]+\/?$/i.test(text)) return undefined;
  const url = URL.parse(text);
  // A page loaded over http can be tampered with.
  return url && isTrustworthy(url) && HOST.test(url.host) ? url.origin : undefined;
}
