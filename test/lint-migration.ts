import { TABLES } from '../src/app.ts';
import { kindOf, type Migration, worksWith } from '../src/platform/db/apply-migration.ts';
import { type SqlStatement, splitStatements } from '../src/platform/db/split-statements.ts';

/** Tables with a fixed number of rows. Migrations may change only these without restrictions. */
const SMALL_TABLES = TABLES.filter(({ rows }) => rows === 'fixed').map(({ name }) => name);

/** A table name, with or without a schema, or a placeholder of `format`. */
const TABLE = '(?:only\\s+)?((?:[\\w"]+\\.)?[\\w"%]+)';

/** Statements on a table, alone or as parts of other statements, each with the advice to follow instead. */
const STATEMENTS: [RegExp, string][] = [
  [
    pattern(`create\\s+(?:unique\\s+)?index\\s+(?!concurrently)[^(]*?\\bon\\s+${TABLE}`),
    'make the index in a migration of the kind concurrently: writes wait for this one',
  ],
  [
    pattern(`update\\s+${TABLE}(?:\\s+(?:as\\s+)?\\w+)?\\s+set\\s`),
    'change rows in a migration of the kind batches: requests wait for rows that this locks',
  ],
  [
    pattern(`(?:delete\\s+from|merge\\s+into)\\s+${TABLE}`),
    'change rows in a migration of the kind batches: requests wait for rows that this locks',
  ],
  [
    pattern(`truncate\\s+(?:table\\s+)?(?!on\\b|table\\b)${TABLE}`),
    'delete the rows in a migration of the kind batches',
  ],
  [pattern(`vacuum\\s*(?:\\([^)]*\\bfull\\b[^)]*\\)|full)\\s*${TABLE}?`), 'vacuum full rewrites the table'],
  [pattern(`cluster\\s+(?:verbose\\s+)?${TABLE}`), 'cluster rewrites the table'],
  [pattern(`lock\\s+(?:table\\s+)?(?!table\\b)${TABLE}`), 'lock no table: requests wait until the migration has ended'],
  [pattern(`reindex\\s+(?:\\w+\\s+)?${TABLE}`), 'make a new index in a migration of the kind concurrently'],
];

const NOT_VALID = 'add the constraint "not valid", and validate it in a later migration of the kind concurrently';
const OLD_CODE = 'processes of the previous release still use it';

/** Actions of `alter table`, each with the advice to follow instead. */
const ACTIONS: [RegExp, string][] = [
  [
    /^alter (column )?(?!column )\S+ (set data )?type\b/,
    'a column of another type rewrites the table: add a new column',
  ],
  [/^alter (column )?\S+ set expression\b/, 'another expression rewrites the table: add a new column'],
  [/^add (constraint \S+ )?(check|foreign key)\b(?!.*\bnot valid$)/, NOT_VALID],
  [
    /^add (constraint \S+ )?(unique|primary key)\b(?!.* using index )/,
    'make its index in a migration of the kind concurrently, and add the constraint "using index"',
  ],
  [/^add (constraint \S+ )?exclude\b/, 'an exclusion constraint reads the whole table and blocks writes'],
  [/^validate constraint\b/, 'validate in a migration of the kind concurrently'],
  [/^rename (?!constraint )/, `rename nothing: ${OLD_CODE}`],
  [/^set (schema|tablespace|access method|logged|unlogged)\b/, 'this rewrites the table or takes it from where it is'],
];

/**
 * Returns a sentence for each statement of this migration that would block requests for long on a large database.
 * `earlier`: the migrations before it, which may have added the constraint that `set not null` relies on. Tables that
 * the migration itself creates are exempt. Checks the code of `do` blocks, but not the functions that it calls.
 */
export function lintMigration(migration: Migration, earlier: readonly Migration[] = []): string[] {
  const kind = kindOf(migration);
  const statements = splitStatements(migration.text);
  if (kind === 'concurrently') return statements.flatMap(lintConcurrent);
  if (kind === 'batches') return lintBatches(statements);
  const all = statements.flatMap(withBody);
  const exempt = [...SMALL_TABLES, ...all.flatMap(({ text }) => created(text))];
  return all.flatMap((statement) => [
    ...lintStatement(statement.text, exempt),
    ...lintAlterations(statement, exempt, earlier),
  ]);
}

/** Changes that could break an earlier release. */
const NOT_ADDITIVE =
  /\b(drop (?!index\b)(?!trigger if exists\b)|rename\b|alter (column )?\S+ (set not null|(set data )?type)|add (constraint \S+ )?(check|unique|foreign key|exclude)|revoke\b|(alter|create( or replace)?) (policy|trigger|function))/;

/**
 * Returns a sentence for each statement that breaks the promise of the migration's line "-- works with: …". `any`
 * promises that all statements only add; any other value must be the name of an earlier migration.
 */
export function lintWorksWith(migration: Migration, earlier: readonly Migration[]): string[] {
  const promised = worksWith(migration);
  if (promised === null) return [];
  if (promised !== 'any') {
    return earlier.some(({ name }) => name === promised) ? [] : [`${promised} is not an earlier migration`];
  }
  return splitStatements(migration.text)
    .flatMap(withBody)
    .filter(({ text }) => NOT_ADDITIVE.test(text) && !/^create (unlogged )?table\b/.test(text))
    .map(({ text }) => `${text}: an earlier release may not go on; name the migration of the release that does`);
}

function pattern(text: string): RegExp {
  return new RegExp(`\\b${text}`, 'g');
}

/**
 * Normalizes a statement: lower case, single spaces, empty literals. For a `do` statement, returns the statements of
 * its body.
 */
function withBody({ text, comments }: SqlStatement): SqlStatement[] {
  const body = /^do\b/i.test(text) ? /\$(\w*)\$([\s\S]*)\$\1\$/.exec(text)?.[2] : undefined;
  if (body !== undefined) {
    // `execute` takes its statement from a literal.
    const inner = splitStatements(body).map((inner) => ({ ...inner, text: inner.text.replaceAll("'", ' ') }));
    return inner.flatMap(withBody);
  }
  const plain = text.replace(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'/g, "''");
  return [{ text: plain.replace(/\s+/g, ' ').trim().toLowerCase(), comments }];
}

function created(text: string): string[] {
  const match = new RegExp(`\\bcreate (?:unlogged )?table (?:if not exists )?${TABLE}`).exec(text);
  return match ? [bare(match[1])] : [];
}

function bare(table = ''): string {
  return table.replaceAll('"', '').replace(/^.*\./, '');
}

function lintStatement(text: string, exempt: readonly string[]): string[] {
  const said = STATEMENTS.flatMap(([form, advice]) =>
    [...text.matchAll(form)].filter(([, table]) => !exempt.includes(bare(table))).map(() => `${text}: ${advice}`),
  );
  if (/\bindex concurrently\b/.test(text)) said.push(`${text}: the first line must say "-- migration: concurrently"`);
  return said;
}

function lintAlterations({ text, comments }: SqlStatement, exempt: readonly string[], earlier: readonly Migration[]) {
  const hasReason = comments.some((comment) => /^-- contract: \S/.test(comment));
  const contract = (what: string) => (hasReason ? [] : [`${text}: say "-- contract: why" before it; ${what}`]);
  const dropped = new RegExp(`^drop table (?:if exists )?${TABLE}`).exec(text);
  if (dropped && !exempt.includes(bare(dropped[1]))) return contract(OLD_CODE);
  const match = new RegExp(`\\balter table (?:if exists )?${TABLE} ?\\*? (.*)$`).exec(text);
  const table = bare(match?.[1]);
  if (!match || exempt.includes(table)) return [];
  return splitActions(match[2] ?? '').flatMap((action) => {
    if (/^drop (?!constraint )/.test(action)) return contract(OLD_CODE);
    const advice = ACTIONS.filter(([form]) => form.test(action)).map(([, advice]) => advice);
    const column = /^alter (?:column )?(\S+) set not null$/.exec(action)?.[1];
    if (column && !isCheckedNotNull(table, column, earlier)) {
      advice.push(`validate a constraint check (${column} is not null) first, which saves reading the whole table`);
    }
    if (/^add (?!constraint |check\b|foreign |unique\b|primary |exclude\b)/.test(action)) {
      advice.push(...lintNewColumn(action));
    }
    return advice.map((each) => `alter table ${table} ${action}: ${each}`);
  });
}

/** Splits actions at the commas outside parentheses. */
function splitActions(text: string): string[] {
  let depth = 0;
  let start = 0;
  const actions: string[] = [];
  for (const [i, character] of [...`${text},`].entries()) {
    if (character === '(' || character === '[') depth += 1;
    else if (character === ')' || character === ']') depth -= 1;
    else if (character === ',' && depth === 0) {
      actions.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return actions;
}

/** Defaults that PostgreSQL stores once in the catalog instead of writing each row. */
const CONSTANT =
  /^(?:''|-?[\d.]+|true|false|null|now\(\)|current_\w+|interval ''|array\[\])(?:::[\w ]+(?:\([\d, ]+\))?(?:\[\])*)?$/;

function lintNewColumn(action: string): string[] {
  const value = /\bdefault (.+?)(?= (?:not null|null|check|unique|primary|references|constraint|collate)\b|$)/.exec(
    action,
  )?.[1];
  const advice: string[] = [];
  if (/ generated |\b(small|big)?serial\b/.test(action))
    advice.push('a value computed for each row rewrites the table');
  if (value !== undefined && !CONSTANT.test(value)) advice.push('a default that is not a constant rewrites the table');
  if (value === undefined && / not null\b/.test(action)) advice.push('a column without a default cannot be not null');
  if (/ (check ?\(|unique\b|primary key\b)/.test(action)) advice.push(`add its constraint by itself: ${NOT_VALID}`);
  if (value !== undefined && value !== 'null' && / references /.test(action)) advice.push(NOT_VALID);
  return advice;
}

function isCheckedNotNull(table: string, column: string, earlier: readonly Migration[]): boolean {
  const texts = earlier.flatMap(({ text }) => splitStatements(text)).flatMap(withBody);
  const of = texts.map(({ text }) => text).filter((text) => text.startsWith(`alter table ${table} `));
  const check = new RegExp(`add constraint (\\S+) check \\(${column} is not null\\) not valid`);
  return of.some((text) => {
    const name = check.exec(text)?.[1];
    return name !== undefined && of.some((other) => other.includes(`validate constraint ${name}`));
  });
}

const MAY_RUN_ALONE = [
  /^create (unique )?index concurrently if not exists /,
  /^drop index concurrently if exists /,
  /^alter table \S+ validate constraint \S+$/,
  /^comment on /,
];

function lintConcurrent(statement: SqlStatement): string[] {
  return withBody(statement)
    .filter(({ text }) => !MAY_RUN_ALONE.some((form) => form.test(text)))
    .map(
      ({ text }) =>
        `${text}: of the kind concurrently are "create index concurrently if not exists", "drop index concurrently if exists", "alter table … validate constraint" and "comment on", which may run twice`,
    );
}

function lintBatches(statements: readonly SqlStatement[]): string[] {
  const [first, ...rest] = statements.flatMap(withBody);
  if (!first || rest.length > 0) return ['a migration of the kind batches is one statement'];
  const isLimited = /^(with|update|delete|insert)\b.*\blimit \d+/.test(first.text);
  return isLimited ? [] : [`${first.text}: a migration of the kind batches changes rows with a limit`];
}
