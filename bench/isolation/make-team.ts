import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';
import { newId } from '../../src/platform/core/ids.ts';
import { makeKeyFor } from '../service-process.ts';

/** Adds this number of new users to the workspace of a wiki, without invitations. Returns a key of each. */
export async function makeTeam(dataDir: string, wiki_id: string, members: number): Promise<string[]> {
  const tokens: string[] = [];
  const emails = Array.from({ length: members }, (_, i) => `member${i}@example.com`);
  for (const email of emails) tokens.push(await makeKeyFor(dataDir, email));
  const database = new Client(runningPostgres(dataDir));
  await database.connect();
  try {
    await database.query(
      `insert into memberships (membership_id, workspace_id, user_id, role, status)
      select m.membership_id, w.workspace_id, u.user_id, 'member', 'active'
      from unnest($2::text[], $3::text[]) m (membership_id, email)
      join users u on u.email = m.email join wikis w on w.wiki_id = $1`,
      [wiki_id, emails.map(() => newId('mem')), emails],
    );
  } finally {
    await database.end();
  }
  return tokens;
}
