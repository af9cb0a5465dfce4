import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import type { Query } from '../src/platform/db/db.ts';
import { listMigrations } from '../src/platform/db/migrate.ts';
import { sql } from '../src/platform/db/sql.ts';

interface TableRow {
  name: string;
  comment: string | null;
  columns: { name: string; comment: string | null; type: string; rest: string }[];
  constraints: string[];
  indexes: string[];
  triggers: string[];
  /** Rights of the service's role on the table's rows. */
  rights: string[] | null;
  is_secured: boolean;
  policies: { name: string; command: string; using: string | null; check: string | null }[];
}

/** A heading in the migrations, and the names of objects created below it. */
interface Section {
  title: string;
  names: ReadonlySet<string>;
}

/**
 * Returns the resulting schema as readable SQL, in the sections of the migrations: each table with its comments,
 * columns, constraints, indexes, triggers and policies, then the functions. Reads the catalog, and leaves out anything
 * that differs between releases of PostgreSQL.
 */
export async function schemaText(query: Query): Promise<string> {
  const functions = await query<{ name: string; definition: string; comment: string | null }>(sql`
    select p.proname as name, pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname`);
  // Since PostgreSQL 18 "not null" is a named constraint; here it is part of its column.
  const tables = await query<TableRow>(sql`
    select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
      (
        select json_agg(json_build_object('name', a.attname, 'comment', col_description(c.oid, a.attnum), 'type', format_type(a.atttypid, a.atttypmod),
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
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.oid`);
  // Without their queries, which each release of PostgreSQL formats differently.
  const views = await query<{ name: string; text: string }>(sql`
    select concat_ws(E'\n', '-- ' || obj_description(c.oid, 'pg_class'), 'create view ' || c.relname || ' (' || (
        select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
      ) || ');', (
        select 'grant ' || string_agg(lower(r.privilege_type), ', ' order by r.privilege_type) || ' on ' || c.relname || ' to ' || g.rolname || ';'
        from aclexplode(c.relacl) r join pg_roles g on g.oid = r.grantee where g.rolname = ${SERVICE_ROLE} group by g.rolname
      )) as text, c.relname as name
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' order by c.relname`);
  const entries = [
    ...tables.map((table) => ({ name: table.name, text: tableText(table) })),
    ...views,
    ...functions.map(({ name, definition, comment }) => ({ name, text: commented(comment, functionText(definition)) })),
  ];
  const sections = sectionsOf(
    listMigrations()
      .map(({ text }) => text)
      .join('\n'),
  );
  const parts = sections.map(({ title, names }) => {
    const own = entries.filter(({ name }) => names.has(name));
    return {
      title,
      text: own.map(({ text }) => text).join('\n\n'),
      tables: tables.filter(({ name }) => names.has(name)),
    };
  });
  const contents = parts.map(
    ({ title, tables: own }) => `--   ${title}${own.length > 0 ? ': ' : ''}${own.map(({ name }) => name).join(', ')}`,
  );
  return [
    '-- The schema that the migrations come to, to be read and compared. `npm run accept` rewrites it. Its sections and their tables:',
    ...contents,
    ...parts.map(({ title, text }) => `\n-- ---- ${title} ----\n\n${text}`),
    '',
  ].join('\n');
}

const HEADING = /^-- -{4} (.+?) -+$/;
const CREATED = /^create (?:or replace )?(?:unlogged )?(?:table|view|function) (?:if not exists )?(\w+)/;

/**
 * Parses the headings of the migrations, and the names created below each. The last section also gets the table of
 * migrations, which the program creates itself.
 */
function sectionsOf(migrations: string): Section[] {
  const sections: { title: string; names: Set<string> }[] = [];
  for (const line of migrations.split('\n')) {
    const [, title] = HEADING.exec(line) ?? [];
    if (title !== undefined) sections.push({ title, names: new Set() });
    const [, name] = CREATED.exec(line) ?? [];
    if (name !== undefined && !sections.some(({ names }) => names.has(name))) sections.at(-1)?.names.add(name);
  }
  sections.at(-1)?.names.add('migrations');
  return sections;
}

function commented(comment: string | null, text: string, indent = ''): string {
  return comment ? `${indent}-- ${comment}\n${text}` : text;
}

/** Formats a function. PostgreSQL writes keywords in capitals before the body. */
function functionText(definition: string): string {
  const at = definition.indexOf('AS $function$');
  const head = lowerCase(definition.slice(0, at)).replace('create or replace function public.', 'create function ');
  const body = definition.slice(at + 'AS $function$'.length).trimEnd();
  return `${head.replace(/\s+/g, ' ').trim()} as $$${body.slice(0, -'$function$'.length)}$$;`;
}

/** Lower-cases keywords outside quotes. */
function lowerCase(text: string): string {
  return text
    .split(/('(?:[^']|'')*'|"[^"]*")/)
    .map((piece, i) => (i % 2 === 0 ? piece.replace(/\b[A-Z]{2,}\b/g, (word) => word.toLowerCase()) : piece))
    .join('');
}

function tableText(row: TableRow): string {
  const { name, comment, columns, constraints, indexes, triggers } = row;
  const width = Math.max(...columns.map((column) => column.name.length));
  const rows = columns.map((column, i) => {
    const isLast = i === columns.length - 1 && constraints.length === 0;
    const text = `  ${column.name.padEnd(width)}  ${[column.type, lowerCase(column.rest)].filter(Boolean).join(' ')}${isLast ? '' : ','}`;
    return commented(column.comment, text, '  ');
  });
  const rest = constraints.map((line, i) => `  ${lowerCase(line)}${i === constraints.length - 1 ? '' : ','}`);
  const table = commented(comment, `create table ${name} (\n${[...rows, ...rest].join('\n')}\n);`);
  const lines = [...indexes, ...triggers].map((line) => `${lowerCase(line.replace(' ON public.', ' ON '))};`);
  return [table, ...lines, ...accessText(row)].join('\n');
}

function accessText({ name, rights, is_secured, policies }: TableRow): string[] {
  const plain = (text: string) => lowerCase(text.replace(/\s+/g, ' ').replace(/ AS \w+\b/g, ''));
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
