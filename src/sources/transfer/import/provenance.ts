import { cleanName } from '@ibid/markdown/clean-name.ts';
import { newId } from '../../../platform/core/ids.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type ArchivedPerson, type ArchivedRevision, PEOPLE_FILE } from '../export/archive-format.ts';
import { type Hashes, hashOf, isSealed, SEAL_FILE, SEALED_FILES, Seal } from '../export/archive-seal.ts';
import { invalid } from './archive-error.ts';
import type { ImportContext } from './import-context.ts';
import { type Archive, shown } from './open-archive.ts';
import { recordReader } from './read-records.ts';
import type { ImportedRevision } from './staged-rows.ts';
import type { WikiArchive } from './wiki-archive.ts';

interface Made {
  created_at: string;
  created_by: string;
}

/** Decides the authors, times, origins and claims of imported rows. */
export interface Provenance {
  /** Whether this service made the archive, so that its times, ids and origins are trusted. */
  isOwn: boolean;
  /** People in the archive who are not known members of the workspace, under new ids. */
  strangers: ArchivedPerson[];
  revision(given: ArchivedRevision): Pick<ImportedRevision, 'created_at' | 'created_by' | 'origin' | 'claim'>;
  made(given: Made): Made;
}

/**
 * Decides to whom imported rows are attributed. An archive can be forged, so its names and times are trusted only if
 * this service sealed it, and an author only if that user is a member of the workspace. Otherwise the importing user is
 * the author, at the present time, and the statements of the archive are stored as claims.
 */
export async function provenanceOf(context: ImportContext, { people }: WikiArchive): Promise<Provenance> {
  const { creator, now } = context;
  const isOwn = await isOwnArchive(context);
  const members = isOwn ? await membersAmong(context, people) : new Set<string>();
  const idOf = new Map(people.map(({ user_id }) => [user_id, members.has(user_id) ? user_id : newId('user')]));
  const strangers = people
    .filter(({ user_id }) => !members.has(user_id))
    .map(({ user_id, name, email }) => ({
      user_id: personOf(user_id),
      name: cleanName(name),
      email: cleanName(email),
    }));

  function personOf(user_id: string): string {
    const id = idOf.get(user_id);
    if (id === undefined) throw invalid(`${PEOPLE_FILE} does not list ${shown(user_id)}, which another file names.`);
    return id;
  }

  function ownRevision({ created_at, created_by, origin, claim }: ArchivedRevision) {
    const user_id = personOf(created_by);
    if (claim) {
      const inner = { ...claim, user_id: personOf(claim.user_id), imported_by: personOf(claim.imported_by) };
      return { created_at, created_by: user_id, origin, claim: inner };
    }
    const stranger = members.has(created_by) ? null : { user_id, created_at, origin, imported_by: creator };
    return { created_at, created_by: user_id, origin, claim: stranger };
  }

  return {
    isOwn,
    strangers,
    revision(given) {
      if (isOwn) return ownRevision(given);
      const { created_at, created_by, origin } = given;
      if (Number.isNaN(Date.parse(created_at))) throw invalid(`${shown(created_at)} is no time.`);
      const claim = { user_id: personOf(created_by), created_at, origin, imported_by: creator };
      return { created_at: now, created_by: creator, origin: 'authored', claim };
    },
    made({ created_at, created_by }) {
      const user_id = personOf(created_by);
      return isOwn ? { created_at, created_by: user_id } : { created_at: now, created_by: creator };
    },
  };
}

const SEAL_MAX = 65_536;
const readSeal = recordReader(Seal);

async function isOwnArchive({ archive, signatures }: ImportContext): Promise<boolean> {
  if (!archive.has(SEAL_FILE)) return false;
  const seal = readSeal(await archive.read(SEAL_FILE, SEAL_MAX), SEAL_FILE);
  return isSealed(signatures, await hashesOf(archive), seal);
}

async function hashesOf(archive: Archive): Promise<Hashes> {
  const hashes: Partial<Hashes> = {};
  for (const name of SEALED_FILES) hashes[name] = await hashOf(archive.chunks(name));
  return hashes as Hashes;
}

/** Returns the ids of an own archive that belong to members of the workspace, including inactive ones. */
async function membersAmong(
  { query, wiki_id }: ImportContext,
  people: readonly ArchivedPerson[],
): Promise<Set<string>> {
  const ids = people.map(({ user_id }) => user_id);
  const members = await query<{ user_id: string }>(sql`
    select m.user_id from wikis w join memberships m on m.workspace_id = w.workspace_id
    where w.wiki_id = ${wiki_id} and m.user_id = any (${ids}::text[])`);
  return new Set(members.map(({ user_id }) => user_id));
}
