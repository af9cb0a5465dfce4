import { readFile } from 'node:fs/promises';
import { type Access, permissionOf } from '../src/access/access-rule.ts';
import { type Permission, ROLES, type RoleEntry } from '../src/access/roles.ts';
import { ENDPOINTS, JOBS } from '../src/app.ts';
import type { Option } from '../src/config/option.ts';
import { OPTIONS } from '../src/config/options.ts';
import type { Query } from '../src/db/db.ts';
import { SERVICE_ROLE } from '../src/db/service-session.ts';
import { sql } from '../src/db/sql.ts';
import { FORMATS } from '../src/documents/formats/formats.ts';
import type { Endpoint } from '../src/http/endpoint.ts';
import { describeApi } from '../src/http/openapi/document.ts';
import { errorsDocument } from '../src/http/openapi/error-codes.ts';
import { type AnyJob, isRecordJob } from '../src/jobs/define-job.ts';
import { extractorVersions } from './extractor-outputs.ts';
import { generatedChart } from './generated-chart.ts';

/** The generated files that are committed and compared: their paths and texts. */
export async function generatedFiles(query: Query): Promise<Record<string, string>> {
  return {
    'openapi.json': `${JSON.stringify(describeApi(ENDPOINTS), null, 2)}\n`,
    'docs/errors.md': errorsDocument(),
    'access.txt': accessTable(ENDPOINTS),
    'schema.sql': await schemaText(query),
    'README.md': await optionsReadme(),
    'src/jobs/README.md': await jobsReadme(),
    'src/documents/formats/README.md': await formatsReadme(),
    'src/documents/extractor-versions.json': await extractorVersions(),
    ...(await generatedChart()),
  };
}

/** The README with the table of all options. */
async function optionsReadme(): Promise<string> {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const rows = Object.entries(OPTIONS).map(([name, { doc, fallback, see }]: [string, Option<unknown>]) => {
    // Addresses and names of options are code.
    const purpose = doc.replace(/\b[a-z0-9]+:\/\/\S*[^\s,;:.)]|\b[A-Z]+(?:_[A-Z]+)+(?:=\w+)?/g, '`$&`');
    return `| \`${name}\` | ${fallback && `\`${fallback}\``} | ${purpose}${see ? ` ([more](${see}))` : ''} |\n`;
  });
  return text.replace(/(?<=\| option \|.*\n\|[-|]+\n)(?:\|.*\n)+/, rows.join(''));
}

/** The README of the jobs with the table of all jobs as they are defined. */
async function jobsReadme(): Promise<string> {
  const text = await readFile(new URL('../src/jobs/README.md', import.meta.url), 'utf8');
  return text.replace(/(?:^\| `.*\n)+/m, JOBS.map((job) => `${jobRow(job)}\n`).join(''));
}

/** The README of the formats with the table of all formats. */
async function formatsReadme(): Promise<string> {
  const text = await readFile(new URL('../src/documents/formats/README.md', import.meta.url), 'utf8');
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

/** Which role may call which endpoint, and with which permission: one line per endpoint, in the order of the list. */
export function accessTable(endpoints: readonly Endpoint[]): string {
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

/** Columns two spaces apart; the last one is not padded. */
function align(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

interface TableRow {
  name: string;
  comment: string | null;
  columns: { name: string; type: string; rest: string }[];
  constraints: string[];
  indexes: string[];
  triggers: string[];
  /** The rights of the service's role on its rows. */
  rights: string[] | null;
  is_secured: boolean;
  policies: { name: string; command: string; using: string | null; check: string | null }[];
}

/**
 * What the migrations come to, as SQL to be read: functions, then each table with its columns, constraints, indexes,
 * triggers and comment, then views. Made from the catalogue with nothing in it that differs between releases of PostgreSQL.
 */
export async function schemaText(query: Query): Promise<string> {
  const functions = await query<{ definition: string; comment: string | null }>(sql`
    select pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname`);
  // Since PostgreSQL 18 "not null" is a named constraint; here it is part of its column.
  const tables = await query<TableRow>(sql`
    select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
      (
        select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'rest', concat_ws(' ',
            case when a.attcollation <> t.typcollation then 'collate ' || quote_ident(l.collname) end,
            case when a.attnotnull then 'not null' end,
            case when a.attgenerated = 's' then 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
              when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end)) order by a.attnum)
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        left join pg_collation l on l.oid = a.attcollation
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      coalesce((
        select json_agg(pg_get_constraintdef(k.oid) order by k.contype <> 'p', k.contype <> 'u', k.contype, k.conname)
        from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'), '[]') as constraints,
      coalesce((
        select json_agg(pg_get_indexdef(i.indexrelid) order by pg_get_indexdef(i.indexrelid))
        from pg_index i where i.indrelid = c.oid
          and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = c.oid)), '[]') as indexes,
      coalesce((
        select json_agg(pg_get_triggerdef(g.oid) order by g.tgname)
        from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal), '[]') as triggers,
      (
        select json_agg(lower(r.privilege_type) order by r.privilege_type)
        from aclexplode(c.relacl) r join pg_roles g on g.oid = r.grantee
        where g.rolname = ${SERVICE_ROLE}) as rights,
      c.relrowsecurity as is_secured,
      coalesce((
        select json_agg(json_build_object('name', p.polname,
          'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
          'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid)) order by p.polname)
        from pg_policy p where p.polrelid = c.oid), '[]') as policies
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  // Without their queries, which each release of PostgreSQL writes in its own way.
  const views = await query<{ text: string }>(sql`
    select concat_ws(E'\n', '-- ' || obj_description(c.oid, 'pg_class'), 'create view ' || c.relname || ' (' || (
        select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
      ) || ');', (
        select 'grant ' || string_agg(lower(r.privilege_type), ', ' order by r.privilege_type) || ' on ' || c.relname || ' to ' || g.rolname || ';'
        from aclexplode(c.relacl) r join pg_roles g on g.oid = r.grantee where g.rolname = ${SERVICE_ROLE} group by g.rolname
      )) as text
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.relname`);
  const parts = [
    '-- The schema that the migrations come to, to be read and compared. `npm run accept` rewrites it.',
    ...functions.map(({ definition, comment }) => `${comment ? `-- ${comment}\n` : ''}${definition.trimEnd()};`),
    ...tables.map(tableText),
    ...views.map(({ text }) => text),
  ];
  return `${parts.join('\n\n')}\n`;
}

function tableText(row: TableRow): string {
  const { name, comment, columns, constraints, indexes, triggers } = row;
  const rows = align(columns.map((column) => [column.name, column.type, column.rest]))
    .trimEnd()
    .split('\n');
  const inside = [...rows, ...constraints].map((line) => `  ${line}`).join(',\n');
  const table = `${comment ? `-- ${comment}\n` : ''}create table ${name} (\n${inside}\n);`;
  const lines = [...indexes, ...triggers].map((line) => `${line.replace(' ON public.', ' ON ')};`);
  return [table, ...lines, ...accessText(row)].join('\n');
}

function accessText({ name, rights, is_secured, policies }: TableRow): string[] {
  const plain = (text: string) => text.replace(/\s+/g, ' ').replace(/ AS \w+\b/g, '');
  return [
    ...(rights ? [`grant ${rights.join(', ')} on ${name} to ${SERVICE_ROLE};`] : []),
    ...(is_secured ? [`alter table ${name} enable row level security;`] : []),
    ...policies.map(({ name: policy, command, using, check }) =>
      [
        `create policy ${policy} on ${name} for ${command}`,
        ...(using ? [`  using (${plain(using)})`] : []),
        ...(check ? [`  with check (${plain(check)})`] : []),
      ]
        .join('\n')
        .concat(';'),
    ),
  ];
}
