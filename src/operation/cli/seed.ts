import { setTimeout as pause } from 'node:timers/promises';
import { loadPlans } from '../../organization/billing/plans.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Db } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Config } from '../config.ts';
import { readArguments } from './arguments.ts';
import { makeKey } from './key.ts';
import { UsageError, withDatabase } from './with-database.ts';

export const SEED_USAGE = `  ibid seed [--address http://127.0.0.1:8080]                   creates an example workspace in a running service: people,
                                                                pages, sources, a conflict and, if plans are paid online,
                                                                an unpaid invoice`;

type Print = (line: string) => void;

const OWNER = 'ada@example.com';
const MEMBERS = { 'grace@example.com': 'admin', 'alan@example.com': 'member' };
const OPENING = '# Opening\n\nUnlock the doors at 9.\n\nSwitch on the lights.\n';

/**
 * Files of the first upload. The second upload changes the last file where its page was edited, which makes a conflict.
 */
const FILES = {
  'handbook/README.md': '# Handbook\n\nBegin with [the library](library/README.md).\n',
  'handbook/library/README.md': '# Library\n\n[Opening](opening.md) and [lending](lending.html).\n',
  'handbook/library/lending.html': '<main><h1>Lending</h1><p>Books are lent for <b>four weeks</b>.</p></main>',
  'handbook/library/prices.csv': 'Item,Price\nCard,5.00\nReminder,1.50\n',
  'handbook/library/opening.md': OPENING,
};

/** Pages written by users, each below the previous page. */
const WRITTEN = [
  { title: 'Projects', markdown: '# Projects\n\nWhat we are working on.\n' },
  { title: 'New catalogue', markdown: '# New catalogue\n\n- [x] Choose a format\n- [ ] Scan the cards\n' },
  {
    title: 'Formats',
    markdown: '# Formats\n\n| Format | Readable by |\n|---|---|\n| MARC | machines |\n| Cards | people |\n',
  },
];

/** Runs `ibid seed …`. Throws UsageError. */
export async function runSeedCommand(config: Config, args: readonly string[], print: Print): Promise<void> {
  const { values } = readArguments(args, { options: { address: { type: 'string' } }, most: 0, usage: SEED_USAGE });
  const address = values.address ?? `http://127.0.0.1:${config.PORT}`;
  const isServed = await fetch(`${address}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isServed)
    throw new UsageError(`no service answers at ${address}: start it, or give its address with --address.`);
  await withDatabase(config, async (db) => {
    const api = apiOf(address, await makeKey(db, { email: OWNER, name: 'ibid seed', workspace_id: null }));
    const { workspace, workspace_created, overview } = await api('POST', '/v1/onboarding');
    if (!workspace_created) throw new UsageError(`${OWNER} already has a workspace: the example already exists.`);
    const wiki = `/v1/wikis/${overview.wikis[0].wiki_id}`;
    await addMembers(db, workspace.workspace_id);
    await writePages(api, wiki);
    await uploadFiles(api, wiki);
    print(
      `${workspace.slug}: ${1 + Object.keys(MEMBERS).length} people, ${WRITTEN.length} pages, ${Object.keys(FILES).length} files, a conflict`,
    );
    print(await leaveUnpaid(db, config, workspace.workspace_id));
    print(`Open ${address} and sign in as ${OWNER}, or use the API with a key: npx ibid key --email ${OWNER}`);
  });
}

type Api = (method: string, path: string, body?: object) => Promise<any>;

/** Returns a client of the API with this key. It throws UsageError with the response if a call fails. */
function apiOf(address: string, key: string): Api {
  return async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new UsageError(`${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text);
  };
}

async function addMembers(db: Db, workspace_id: string): Promise<void> {
  for (const [email, role] of Object.entries(MEMBERS)) {
    await makeKey(db, { email, name: 'ibid seed', workspace_id: null });
    await db.query(sql`
      insert into memberships (membership_id, workspace_id, user_id, role)
      select ${newId('mem')}, ${workspace_id}, user_id, ${role} from users where email = ${email} and email_verified
      order by user_id limit 1`);
  }
}

async function writePages(api: Api, wiki: string): Promise<void> {
  let parent_page_id = '';
  for (const page of WRITTEN)
    ({ page_id: parent_page_id } = await api('POST', `${wiki}/pages`, { ...page, parent_page_id }));
}

async function uploadFiles(api: Api, wiki: string): Promise<void> {
  await upload(api, wiki, FILES);
  const page = await api('GET', `${wiki}/pages/path/handbook/library/opening`);
  const edited = { base_revision: page.revision, markdown: OPENING.replace('at 9', 'at 8, and at 10 on Sundays') };
  await api('PATCH', `${wiki}/pages/${page.page_id}`, edited);
  await upload(api, wiki, { ...FILES, 'handbook/library/opening.md': OPENING.replace('at 9', 'at half past 9') });
}

async function upload(api: Api, wiki: string, files: Record<string, string>): Promise<void> {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text]), name);
  const { upload_id } = await api('POST', `${wiki}/uploads`, form);
  while (!(await api('GET', `${wiki}/uploads/${upload_id}`)).finished_at) await pause(200);
}

/**
 * Inserts a subscription as the payment provider would report it. The customer does not exist there, so the provider is
 * never asked about it.
 */
async function leaveUnpaid(db: Db, config: Config, workspace_id: string): Promise<string> {
  const plan = loadPlans(config.PLANS_FILE).find(({ checkout, unit_amount }) => checkout !== 'none' && unit_amount > 0);
  if (config.STRIPE_SECRET_KEY === undefined || !plan)
    return 'There is no unpaid invoice: STRIPE_SECRET_KEY is not set.';
  await db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, subscription_id, currency, amount_due, period_start, period_end,
      unpaid_since, writes_end_at)
    values (${workspace_id}, ${plan.plan_id}, 3, 'sub_example', ${plan.currency}, ${3 * plan.unit_amount}, now(),
      now() + interval '30 days', now() - interval '1 day', now() + interval '6 days')`);
  return `An invoice for the plan ${plan.plan_id} has been unpaid since yesterday.`;
}
