import { readFile } from 'node:fs/promises';
import { FORMATS } from '@ibid/documents/formats/formats.ts';
import { ENDPOINTS, JOBS } from '../src/app.ts';
import type { Option } from '../src/operation/config/option.ts';
import { OPTIONS } from '../src/operation/config/options.ts';
import { type Access, permissionOf } from '../src/platform/access/access-rule.ts';
import { type Permission, ROLES, type RoleEntry } from '../src/platform/access/roles.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import type { Query } from '../src/platform/db/db.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { describeApi } from '../src/platform/http/openapi/document.ts';
import { errorsDocument } from '../src/platform/http/openapi/error-codes.ts';
import { type AnyJob, isRecordJob } from '../src/platform/jobs/define-job.ts';
import { extractorVersions } from './extractor-outputs.ts';
import { generatedChart } from './generated-chart.ts';
import { schemaText } from './schema-text.ts';

/** Returns the generated files that are committed, by path. */
export async function generatedFiles(query: Query): Promise<Record<string, string>> {
  return {
    'openapi.json': `${JSON.stringify(describeApi(ENDPOINTS), null, 2)}\n`,
    'docs/errors.md': errorsDocument(operationWith),
    'access.txt': accessTable(ENDPOINTS),
    'schema.sql': await schemaText(query),
    'docs/operations/options.md': await optionsDocument(),
    'src/platform/jobs/README.md': await jobsReadme(),
    'packages/documents/formats/README.md': await formatsReadme(),
    'packages/documents/extractor-versions.json': await extractorVersions(),
    ...(await generatedChart()),
  };
}

/** Returns the first operation that declares an error code, as an example. */
function operationWith(code: string): string {
  const found = ENDPOINTS.find(({ errors = [] }) => errors.includes(code));
  return found ? `\`${found.method} ${found.path.replace(/:(\w+)/g, '{$1}')}\`` : 'any operation';
}

/** Returns docs/operations/options.md with the table of all options. */
async function optionsDocument(): Promise<string> {
  const text = await readFile(new URL('docs/operations/options.md', PACKAGE), 'utf8');
  const rows = Object.entries(OPTIONS).map(([name, { doc, fallback, see }]: [string, Option<unknown>]) => {
    // Format addresses and names of options as code.
    const purpose = doc.replace(/\b[a-z0-9]+:\/\/\S*[^\s,;:.)]|\b[A-Z]+(?:_[A-Z]+)+(?:=\w+)?/g, '`$&`');
    return `| \`${name}\` | ${fallback && `\`${fallback}\``} | ${purpose}${see ? ` ([more](${see.replace('docs/operations/', '')}))` : ''} |\n`;
  });
  return text.replace(/(?<=\| option \|.*\n\|[-|]+\n)(?:\|.*\n)+/, rows.join(''));
}

async function jobsReadme(): Promise<string> {
  const text = await readFile(new URL('src/platform/jobs/README.md', PACKAGE), 'utf8');
  return text.replace(/(?:^\| `.*\n)+/m, JOBS.map((job) => `${jobRow(job)}\n`).join(''));
}

async function formatsReadme(): Promise<string> {
  const text = await readFile(new URL('packages/documents/formats/README.md', PACKAGE), 'utf8');
  const rows = FORMATS.map(({ name, extensions, folder, counted_in, listed_as_lost }) => {
    const names = extensions.map((extension) => `.${extension}`).join(' ');
    return `| ${[name, names, folder, counted_in, listed_as_lost].join(' | ')} |\n`;
  });
  return text.replace(/(?<=\| format \|.*\n\|[-|]+\n)(?:\|.*\n)+/, rows.join(''));
}

function jobRow(job: AnyJob): string {
  const rows = isRecordJob(job)
    ? [job.name, 'public record', job.lane, '', String(job.attempts)]
    : [job.name, job.for, job.lane, job.every ? `${job.every} s` : '', String(job.attempts)];
  return `| ${rows.map((text) => (text === '' ? '' : `\`${text}\``)).join(' | ')} |`;
}

/**
 * Formats the access table: one line per endpoint, in the order of the list, with the roles that may call it, the
 * permission and other callers.
 */
function accessTable(endpoints: readonly Endpoint[]): string {
  const head = ['method', 'path', ...ROLES.map(({ slug }) => slug), 'permission', 'other callers, and credentials'];
  const lines = endpoints.map(({ method, path, access }) => {
    const permission = permissionOf(access);
    return [method, path, ...ROLES.map((role) => cell(access, permission, role)), permission || '-', remark(access)];
  });
  return `${EXPLANATION}\n${align([head, ...lines])}`;
}

const EXPLANATION = `Who may call what: computed from the list of endpoints and the catalogue of roles. \`npm run accept\` rewrites it.

yes      active members in this role, with any key that has the permission
self     not by the role, but the member whose membership the path names
creator  not by the role, but the creator of the wiki, while they are an active member
-        403, as for callers who are not active members
anyone   no credential needed; the answer depends on secrets in the request
any      any valid credential, of any workspace or none; the endpoint is about the caller's own data
`;

function cell(access: Access, permission: Permission | '', role: RoleEntry): string {
  if (access.on === 'anyone') return 'anyone';
  if (access.on === 'caller') return 'any';
  if (permission === '' || role.permissions.includes(permission)) return 'yes';
  if (access.on === 'workspace' && access.orOwnMembership) return 'self';
  return access.on === 'wiki' && access.orCreator ? 'creator' : '-';
}

function remark(access: Access): string {
  switch (access.on) {
    case 'anyone':
      return 'no credential; one that is sent is ignored';
    case 'caller':
      if (access.session) return 'only the access token of a session';
      return access.unrestricted
        ? 'any access token, any personal key with all permissions'
        : 'any key or access token';
    case 'workspace':
      if (access.orOwnMembership) return 'own membership';
      if (access.session) return 'no key: only the access token of a session';
      return access.permission === '' ? 'any role' : '';
    case 'wiki':
      if (access.unlimited) return 'no key with a list of permissions';
      return access.orCreator ? 'creator of the wiki' : '';
    case 'widget':
      return `only a widget token for ${access.widget}${widgetRemark(access)}`;
  }
}

function widgetRemark({ widget, instead }: Extract<Access, { on: 'widget' }>): string {
  if (!instead) return ', no key';
  const made = instead.on === 'caller' ? `, made with ${remark(instead).replace(/^only /, '')}` : '';
  return `, from its origin${made}${widget === 'profile' && instead.on === 'workspace' ? ', own membership' : ''}`;
}

/** Aligns columns with two spaces between them; the last column is not padded. */
function align(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
