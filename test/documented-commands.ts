import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const ROOT = fileURLToPath(PACKAGE);

/** The test that runs a command, or why no test can. */
type How = { test: string } | { reason: string };

export interface DocumentedCommand {
  path: string;
  text: string;
  how: How;
}

const HERE = { test: 'test/operations/documented-commands.ts' };

/** The first pattern that matches the name of the document and the line decides. */
const WAYS: [line: RegExp, how: How][] = [
  [/^billing: /, { test: 'test/billing-document.long.test.ts' }],
  [/: (kubectl|helm|for login in|.*password=\$\(openssl|done$)/, { test: 'test/kubernetes.long.test.ts' }],
  [/: docker /, { reason: 'it needs an engine for containers; the files are checked by test/deploy.test.ts' }],
  [
    /: (apt-get|cp -r \. \/opt|KEEP_NODE=1 sh|mkdir -p \/etc|cp deploy\/systemd|ln -s \/opt|systemctl)/,
    { reason: 'it installs into the system of a machine with systemd; the unit is checked by test/deploy.test.ts' },
  ],
  [/: npm ci --ignore-scripts$/, { test: '.ci/run' }],
  [/: npm start$/, { test: 'test/billing-document.long.test.ts' }],
  [
    /: (npm pack|npx --yes \.\/ibid-\S+ start|npm install --ignore-scripts \.\/ibid-|npx ibid start)/,
    { test: 'test/package.ts' },
  ],
  [
    /: npm install --no-save @opentelemetry|: OTEL_\w+=\S+ npm start/,
    {
      reason:
        'it needs a collector, and changes what is installed; test/traces.test.ts has the same packages and a collector',
    },
  ],
  [/: npm audit /, { reason: 'it asks servers of npm and sigstore, which a mirror of the registry has not' }],
  [/: npx ibid upgrade$/, { test: 'test/operations/upgrade.ts' }],
  [/: (npx ibid|curl|openssl|umask|chmod|npm sbom)\b/, HERE],
];

/** Returns every shell line in the documents for operators, in order. Lines that only set options do not count. */
export function documentedCommands(): DocumentedCommand[] {
  return globSync('docs/operations/*.md', { cwd: ROOT })
    .sort()
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
        .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
        .map((line) => line.replace(/\s+# .*$/, '').trim())
        .filter((line) => line !== '' && !/^[A-Z_]+=("[^"]*"|\S+)$/.test(line))
        .map((text) => ({ path, text, how: howOf(path, text) })),
    );
}

function howOf(path: string, text: string): How {
  const how = WAYS.find(([line]) => line.test(`${basename(path, '.md')}: ${text}`))?.[1];
  if (!how) throw new Error(`${path} tells to run "${text}": say in test/documented-commands.ts which test does`);
  return how;
}
