import { readdirSync, readFileSync } from 'node:fs';
import { generatePages, shortPages as tldrPages } from './corpus.ts';

/** Texts by kind. */
type Texts = Record<string, string[]>;

const ROOT = new URL('../', import.meta.url);

/** Pages of commands: a third of their text is inline code, and no code block has a language. */
export function shortPages(): Texts {
  return { 'short pages': Object.values(tldrPages()) };
}

/** Pages of prose, of 4,000 bytes. */
export function longPages(): Texts {
  return { 'pages of 4,000 bytes': Object.values(generatePages({ from: 0, count: 200, bytes: 4_000 })) };
}

/** The project's own documents, and its source files as pages with one code block each. */
export function codePages(): Texts {
  const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');
  const documents = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const sources = readdirSync(new URL('src/http/', ROOT)).filter((name) => name.endsWith('.ts'));
  return {
    'our own documents': documents.map(read),
    'pages of code': sources.map((name) => `# ${name}\n\n\`\`\`ts\n${read(`src/http/${name}`)}\n\`\`\`\n`),
  };
}
