import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { AUDIT_TARGETS, PERSON_LISTS } from '../../app.ts';
import { deleteCaller } from '../../organization/account/delete-account.ts';
import { beginExport, readerOf } from '../../organization/account/export/export-account.ts';
import { writeAccount } from '../../organization/account/export/write-account.ts';
import { changeEmail } from '../../organization/session/email-change/schema.ts';
import { signedIn } from '../../platform/access/access-rule.ts';
import type { EventType } from '../../platform/access/audit-record.ts';
import { type AuthorizedDb, guard } from '../../platform/access/guard.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { type OwnerDb, openServiceDb, type Query, type ServiceDb } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { openZipWriter } from '../../sources/transfer/export/zip-writer.ts';
import type { Config } from '../config.ts';
import { COMMAND, record } from '../operator/audit.ts';
import { serviceConnection } from '../service/open-database.ts';
import { readArguments } from './arguments.ts';
import { UsageError, withDatabase } from './with-database.ts';
import { withFiles } from './with-files.ts';

export const USER_USAGE = `  ibid user export USER FILE                                    exports a person's data as a ZIP archive;
                                                                USER: an ID or an address
  ibid user merge KEPT MERGED [--yes]                           merges two users: the second becomes a way to sign in
                                                                to the first; without --yes: only shows both users
  ibid user delete USER [--yes]                                 permanently deletes the account of a person;
                                                                without --yes: only shows the person
  ibid user email USER ADDRESS [--yes]                          changes the address of a person who cannot read mail at
                                                                the old one; without --yes: only shows the person
`;

type Print = (line: string) => void;

interface Person {
  user_id: string;
  email: string;
  display_name: string;
  email_verified: boolean;
  /** Whether another user has the same address. */
  is_shared: boolean;
  issuers: string;
}

/** Runs `ibid user …`. Throws UsageError. */
export async function runUserCommand(config: Config, args: string[], print: Print): Promise<void> {
  const { positionals, values } = readArguments(args, {
    options: { yes: { type: 'boolean', default: false } },
    most: 3,
    usage: USER_USAGE,
  });
  const [action, given = '', more = ''] = positionals;
  const hasMore = more !== '';
  const fits = new Map([
    ['export', hasMore && !values.yes],
    ['merge', hasMore],
    ['delete', !hasMore],
    ['email', hasMore],
  ]);
  if (fits.get(action ?? '') !== true || given === '') throw new UsageError(`usage:\n${USER_USAGE}`);
  await withDatabase(config, async (db, own) => {
    const { query } = db;
    const person = await findPerson(query, given);
    if (action === 'merge') return merge(db, person, await findPerson(query, more), values.yes, print);
    const what = action === 'delete' ? 'delete this account' : `give this account the address ${more}`;
    if (action !== 'export' && !values.yes) return print(`${nameOf(person)}: repeat with --yes to ${what}.`);
    const service = openServiceDb({
      ...serviceConnection(config, own),
      connections: 2,
      onConnectionLost: () => undefined,
    });
    try {
      if (action === 'export') await exportTo(more, config, service, person, print);
      else if (action === 'email') await changeAddress(more, service, person, print);
      else await remove(service, person, print);
    } finally {
      await service.close();
    }
  });
}

const CANNOT_MERGE: Record<string, string> = {
  same: 'both are the same user.',
  has_written:
    'the second user has written pages or uploaded files, and authorship cannot change. Give the user with pages first; two users who have both written cannot be merged.',
  both_members: 'both are members of the same workspace. Have one of them removed there.',
  gone: 'one of them has been deleted in the meantime.',
};

/** Merges two users. Throws UsageError if an obstacle prevents it. */
async function merge(db: OwnerDb, kept: Person, merged: Person, isMeant: boolean, print: Print): Promise<void> {
  if (!isMeant) {
    print(`${nameOf(merged)} will be merged into ${nameOf(kept)}: repeat with --yes.`);
    return print(
      'Only do this if you know that both are the same person: the first gains access to everything that the second can read.',
    );
  }
  await db.transaction(async (query) => {
    const [row] = await query<{ outcome: string }>(sql`
      select merge_users(${kept.user_id}, ${merged.user_id}, null) as outcome`);
    const outcome = row?.outcome ?? 'gone';
    if (outcome !== '') throw new UsageError(`nothing was merged: ${CANNOT_MERGE[outcome] ?? outcome}`);
    await record(query, COMMAND, {
      workspace_id: null,
      event: 'user.merged',
      before: {},
      after: { user_id: kept.user_id, merged_user_id: merged.user_id },
      target: { kind: 'user', id: kept.user_id },
    });
  });
  print(`${nameOf(merged)} was merged into ${nameOf(kept)}`);
}

/** Finds a user by id, or by an address that only one user has. Throws UsageError. */
async function findPerson(query: Query, given: string): Promise<Person> {
  const found = await query<Person>(sql`
    select u.user_id, u.email, u.display_name, u.email_verified,
      exists (select from users o where o.email = u.email and o.user_id <> u.user_id) as is_shared,
      coalesce((select string_agg(distinct i.issuer, ', ') from identities i where i.user_id = u.user_id), '') as issuers
    from users u where u.user_id = ${given} or (u.email <> '' and u.email = lower(${given})) order by u.user_id`);
  const [person, ...others] = found;
  if (!person) throw new UsageError(`no user "${given}".`);
  if (others.length === 0) return person;
  throw new UsageError(`several users have this address; give the ID of one:\n${found.map(nameOf).join('\n')}`);
}

function nameOf({ user_id, email, display_name, issuers }: Person): string {
  return `${user_id} (${[display_name, email || 'no address', issuers && `signs in by ${issuers}`].filter(Boolean).join(', ')})`;
}

/** Returns the database access of the account endpoints, for a command that acts as this user. */
function actingFor({ user_id }: Person, db: ServiceDb, event: EventType): AuthorizedDb {
  return guard({
    db: db.in({ who: 'command', user_id }),
    access: signedIn({ session: true }),
    credential: { kind: 'command', user_id },
    params: {},
    event,
    auditTargets: AUDIT_TARGETS,
    onlyReads: false,
    needsPayment: false,
    request_id: '',
    address: '',
    onRecordUseFailed: () => undefined,
  });
}

/**
 * Writes the user's export to a new file. Throws errors of the file system, EEXIST if the file exists. Removes a
 * partial archive.
 */
async function exportTo(file: string, config: Config, db: ServiceDb, person: Person, print: Print): Promise<void> {
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await new Promise((resolve, reject) => target.once('open', resolve).once('error', reject));
  try {
    await withFiles(config, async (blobs) => {
      const { maybeOne, transaction } = actingFor(person, db, 'user.exported');
      const begun = await transaction(beginExport);
      const zip = openZipWriter();
      const written = writeAccount(readerOf(maybeOne), PERSON_LISTS, { zip, blobs, ...begun }).then(zip.end, zip.fail);
      await Promise.all([pipeline(zip.stream, target), written]);
    });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  print(`${nameOf(person)}: exported their data to ${file}`);
}

/**
 * Changes the address of a user. Throws UsageError if it is invalid, belongs to another account, or is managed by an
 * issuer.
 */
async function changeAddress(given: string, db: ServiceDb, person: Person, print: Print): Promise<void> {
  const email = normalizeEmail(given);
  if (email === undefined) throw new UsageError(`"${given}" is not a single plain e-mail address.`);
  try {
    await actingFor(person, db, 'user.email_changed').transaction((tx) => changeEmail(tx, person.user_id, email, null));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(`nothing was changed. The message for ${person.user_id} would be: ${error.message}`);
  }
  print(`${nameOf(person)}: the address is now ${email}`);
}

/** Deletes a user. Throws UsageError if an owner of a workspace or the operator has to act first. */
async function remove(db: ServiceDb, person: Person, print: Print): Promise<void> {
  try {
    await actingFor(person, db, 'user.deleted').transaction(deleteCaller);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(`nothing was deleted. The message for ${person.user_id} would be: ${error.message}`);
  }
  print(`${nameOf(person)}: the account was deleted`);
  if (person.email !== '' && (person.is_shared || !person.email_verified)) {
    const why = person.is_shared ? 'another user has this address' : 'this address was never verified';
    print(`Records found only by ${person.email}, such as invitations to it, stay: ${why}.`);
  }
}
