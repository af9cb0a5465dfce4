import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTable } from '../../src/platform/tables/define-table.ts';
import { declaredSql } from '../../src/platform/tables/table-sql.ts';

/**
 * `npm run new -- feature page-comments`: creates the folder of a feature with a table, an endpoint, a test and a
 * migration.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Existing feature that the new one is placed next to, in the tree and in lists. */
const BESIDE = 'stars';

const [, , kind, things = ''] = process.argv;
if (kind !== 'feature' || !/^[a-z]+(-[a-z]+)*s$/.test(things)) {
  process.stderr.write(
    'Usage: npm run new -- feature NAME, where NAME is a plural such as "comments" or "page-comments".\n',
  );
  process.exit(2);
}

const thing = things.replace(/s$/, '');
const table = things.replaceAll('-', '_');
const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const camel = (text: string) => text.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
const names: Record<string, string> = {
  things,
  table,
  row: table.replace(/s$/, ''),
  thing: camel(thing),
  Thing: upper(camel(thing)),
  things_: camel(things),
  Things: upper(camel(things)),
  words: things.replaceAll('-', ' '),
  Words: upper(things.replaceAll('-', ' ')),
  declared: declaredSql(defineTable({ name: table, of: 'wiki', rows: 'few' })),
};

const beside = globSync(`src/**/${BESIDE}/feature.ts`, { cwd: ROOT })[0] ?? '';
const folder = join(dirname(dirname(beside)), things);

/**
 * Fills in the template: names, and imports `~/…` of files in src and `~~/…` of files in the repository, relative to
 * the folder.
 */
function filled(template: string): string {
  const text = readFileSync(new URL(`${template}.txt`, import.meta.url), 'utf8');
  return text
    .replace(/@(\w+)@/g, (_, name: string) => names[name] ?? '')
    .replace(/'~~\/(.+?)'/g, (_, path: string) => `'${relative(folder, path)}'`)
    .replace(/'~\/(.+?)'/g, (_, path: string) => `'${relative(folder, `src/${path}`)}'`);
}

function write(path: string, text: string): void {
  writeFileSync(join(ROOT, path), text, { flag: 'wx' });
  process.stdout.write(`${path} is new\n`);
}

/** Adds the new feature to a list, next to the existing one. */
function addTo(path: string, ...pieces: [find: string, instead: string][]): void {
  let text = readFileSync(join(ROOT, path), 'utf8');
  for (const [find, instead] of pieces) {
    if (!text.includes(find)) throw new Error(`${path} has no "${find}": add the feature by hand`);
    text = text.replace(find, instead);
  }
  writeFileSync(join(ROOT, path), text);
  process.stdout.write(`${path} names it\n`);
}

mkdirSync(join(ROOT, folder));
write(`${folder}/feature.ts`, filled('feature'));
write(`${folder}/tables.ts`, filled('tables'));
write(`${folder}/list-${things}.ts`, filled('list'));
write(`${folder}/${things}.test.ts`, filled('test'));
const migrations = dirname(globSync('src/**/migrations/001_*.sql', { cwd: ROOT })[0] ?? '');
const last = Math.max(...readdirSync(join(ROOT, migrations)).map((file) => Number.parseInt(basename(file), 10)));
write(`${migrations}/${String(last + 1).padStart(3, '0')}_${table}.sql`, filled('migration'));

const path = `./${relative('src', beside)}`;
const line = `import { ${BESIDE} } from '${path}';\n`;
addTo(
  'src/app.ts',
  [line, `${line}import { ${names.things_} } from './${relative('src', folder)}/feature.ts';\n`],
  [`  ${BESIDE},\n`, `  ${BESIDE},\n  ${names.things_},\n`],
);
const place = (of: string) => relative('src', of);
addTo('test/imports.test.ts', [
  `'${place(dirname(beside))}',\n`,
  `'${place(dirname(beside))}',\n  '${place(folder)}',\n`,
]);
addTo('ARCHITECTURE.md', [`\`${BESIDE}/\``, `\`${BESIDE}/\`, \`${things}/\``]);
process.stdout.write('Next: `npx biome check --write .`, `npm run accept`, and what test/tables.test.ts says.\n');
