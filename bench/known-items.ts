import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomNumbers, shortPages } from './corpus.ts';
import type { Collection } from './relevance.ts';

/**
 * Makes collections of known items, which `bench:search` reads, in a folder: what people type who know that there is a text about
 * it. `tasks`: manual pages, and of the tasks that they explain those that are rare, with a word left out. `sections`: sections
 * of documentation (the project's and that of the packages it uses) without their headings, and these as queries.
 *
 * Usage: node bench/known-items.ts FOLDER [PATTERN OF MARKDOWN FILES]
 */
const [folder, pattern] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node bench/known-items.ts FOLDER [PATTERN OF MARKDOWN FILES]');

/** Of more pages with the same task, or sections with the same heading, none is what was meant. */
const MOST_RELEVANT = 3;
const LEAST_CHARACTERS = 200;

write('tasks', tasks(Object.values(shortPages())));
write('sections', sections(documentation()));

function documentation(): string[] {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const names = globSync(pattern ?? '{docs,src,node_modules}/**/*.md', { cwd: root }).sort();
  return names
    .filter((name) => !/changelog|history|license/i.test(name))
    .map((name) => readFileSync(join(root, name), 'utf8'));
}

function tasks(pages: readonly string[]): Collection {
  const documents = pages.map((page, i) => ({
    _id: `page${i}`,
    title: /^# (.*)/m.exec(page)?.[1] ?? '',
    text: page.replace(/^# .*\n/, ''),
  }));
  const tasksOf = (text: string) => [...text.matchAll(/^- (.*):$/gm)].map(([, task = '']) => task.replaceAll('`', ''));
  const random = randomNumbers(31);
  return known(
    documents,
    documents.flatMap(({ _id, text }) =>
      tasksOf(text)
        .slice(0, 2)
        .map((task) => ({ _id, text: task })),
    ),
    (task) => {
      const words = task.split(' ');
      return words.length > 3 ? words.toSpliced(Math.floor(random() * words.length), 1).join(' ') : task;
    },
  );
}

function sections(pages: readonly string[]): Collection {
  const all = pages.flatMap((page) => {
    const title = /^# (.*)/m.exec(page)?.[1] ?? '';
    return page.split(/^(?=#{2,3} )/m).map((section) => ({ title, section }));
  });
  const documents = all.flatMap(({ title, section }, i) => {
    const [, heading = '', text = ''] = /^#{2,3} (.*)\n([\s\S]*)$/.exec(section) ?? [];
    return text.trim().length < LEAST_CHARACTERS ? [] : [{ _id: `section${i}`, title, text: text.trim(), heading }];
  });
  return known(
    documents.map(({ heading, ...document }) => document),
    documents.map(({ _id, heading }) => ({ _id, text: heading.replace(/[`*[\]]|\(http[^)]*\)/g, '') })),
    (heading) => heading,
  );
}

/** The texts that are in at most a few documents and have two words as queries for these documents. */
function known(
  documents: Collection['documents'],
  texts: readonly { _id: string; text: string }[],
  typed: (text: string) => string,
): Collection {
  const holding = new Map<string, Set<string>>();
  for (const { _id, text } of texts) {
    const key = text.trim();
    holding.set(key, (holding.get(key) ?? new Set<string>()).add(_id));
  }
  const kept = [...holding].filter(([text, ids]) => ids.size <= MOST_RELEVANT && /\p{L}{3}.*\s.*\p{L}{3}/u.test(text));
  return {
    documents,
    queries: kept.map(([text], i) => ({ _id: `q${i}`, text: typed(text) })),
    judged: new Map(kept.map(([, ids], i) => [`q${i}`, new Map([...ids].map((id) => [id, 1]))])),
  };
}

function write(name: string, { documents, queries, judged }: Collection): void {
  const path = join(folder ?? '', name);
  mkdirSync(path, { recursive: true });
  const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeFileSync(join(path, 'corpus.jsonl'), lines(documents));
  writeFileSync(join(path, 'queries.jsonl'), lines(queries));
  const rows = [...judged].flatMap(([query, scores]) =>
    [...scores].map(([id, score]) => `${query}\t${id}\t${score}\n`),
  );
  writeFileSync(join(path, 'qrels.tsv'), `query\tdocument\tscore\n${rows.join('')}`);
  console.log(`${path}: ${documents.length} documents, ${queries.length} queries`);
}
