import { readFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import type { Option } from '../src/operation/config/option.ts';
import { OPTIONS } from '../src/operation/config/options.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';

const CHART = 'deploy/helm/ibid';
const read = (name: string) => readFile(new URL(`${CHART}/${name}`, PACKAGE), 'utf8');

/** Options that the chart sets itself, with the value that sets them or the reason why they have no effect there. */
export const SET_BY_CHART: Record<string, string> = {
  ROLE: '`web` and `worker`',
  PORT: '8080 in a pod; `service.port`',
  METRICS_PORT: '9090',
  DATA_DIR: '`/data`; `storage`',
  DATABASE_URL: '`database.owner`',
  SERVICE_DATABASE_URL: '`database.service`',
  DATABASE_REPLICA_URLS: '`database.replicas`',
  PLANS_FILE: '`plans`',
  BACKUP_SCHEDULE: '`backup.schedule`',
  WORKER_IDLE_SECONDS: 'of no effect without `ROLE=all`',
  WORKER_NICE: 'of no effect without `ROLE=all`',
};

/** Options that name a file, which the chart mounts from a Secret. */
const MOUNTED = ['BACKUP_KEY_FILE'];

/** Returns the files of the Helm chart that are generated from the options and from values.yaml. */
export async function generatedChart(): Promise<Record<string, string>> {
  return { [`${CHART}/values.schema.json`]: await valuesSchema(), [`${CHART}/README.md`]: await chartReadme() };
}

async function valuesSchema(): Promise<string> {
  const schema = JSON.parse(await read('values.schema.json'));
  const { config, secrets, extraEnv } = schema.properties;
  const options = Object.entries<Option<unknown>>(OPTIONS);
  const given = options.filter(([name]) => !(name in SET_BY_CHART));
  const isMounted = ([name, { isSecret }]: [string, Option<unknown>]) => isSecret || MOUNTED.includes(name);
  config.properties = Object.fromEntries(
    given
      .filter((option) => !isMounted(option))
      .map(([name, { doc }]) => [
        name,
        { description: doc, ...(name === 'PUBLIC_URL' ? WEB_ADDRESS : { type: ['string', 'number', 'boolean'] }) },
      ]),
  );
  secrets.properties = Object.fromEntries(
    given.filter(isMounted).map(([name, { doc }]) => [name, { description: doc, $ref: '#/definitions/secret' }]),
  );
  const names = options.flatMap(([name, { isSecret }]) => (isSecret ? [name, `${name}_FILE`] : [name]));
  extraEnv.items.properties.name.not.enum = names.sort();
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const WEB_ADDRESS = { type: 'string', pattern: '^https?://[^/]+/?$' };

/** Returns the README of the chart, with a table of the values and a table of the options that the chart sets. */
async function chartReadme(): Promise<string> {
  const document = parseDocument(await read('values.yaml'));
  const values = rowsOf(document.contents as YAMLMap, '').map(
    ({ path, value, purpose }) => `| \`${path}\` | \`${value}\` | ${purpose} |\n`,
  );
  const options = Object.entries(SET_BY_CHART).map(([name, from]) => `| \`${name}\` | ${from} |\n`);
  return (await read('README.md'))
    .replace(/(?<=\| value \|.*\n\|[-|]+\n)(?:\|.*\n)+/, () => values.join(''))
    .replace(/(?<=\| option \|.*\n\|[-|]+\n)(?:\|.*\n)+/, () => options.join(''));
}

/** Returns a row for each comment. Below a commented value, only values with their own comment get a row. */
function rowsOf(map: YAMLMap, prefix: string): { path: string; value: string; purpose: string }[] {
  return map.items.flatMap(({ key, value }, i) => {
    const path = `${prefix}${String(key)}`;
    // The YAML parser attaches the comment of the first key to the map.
    const comment = (i === 0 ? map.commentBefore : undefined) ?? (isScalar(key) ? key.commentBefore : undefined);
    const purpose = comment?.trim().split('\n').at(-1)?.trim();
    if (isMap(value) && !purpose) return rowsOf(value as YAMLMap, `${path}.`);
    if (!purpose) throw new Error(`values.yaml: ${path} has no comment above it`);
    return [{ path, value: JSON.stringify((value as { toJSON(): unknown }).toJSON()), purpose }];
  });
}
