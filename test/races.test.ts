import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { RoleSlug } from '../src/platform/access/roles.ts';
import { newId } from '../src/platform/core/ids.ts';
import { newLinkSecret } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { AUDIENCE, startOpenIdProvider } from './openid-provider.ts';
import { type Race, testRaces } from './race.ts';
import { signedInClient, signInLink } from './signed-in.ts';
import { startTwoProcesses } from './two-processes.ts';
import { type Answer, type Client, type Owner, waitForUpload } from './world.ts';

/** Concurrent requests of many callers, to two processes on one database with ten connections each. */
const provider = await startOpenIdProvider();
cleanUp(() => provider.stop());
const { world, atBoth } = await startTwoProcesses({
  OIDC_ISSUER: provider.issuer,
  OIDC_AUDIENCE: AUDIENCE,
  DATABASE_CONNECTIONS: '10',
});
const { query } = world.db;

const membersOf = (workspace_id: string) => `/v1/workspaces/${workspace_id}/members`;
const succeeded = (answers: Answer[]) => answers.filter(({ status }) => status < 300);
const distinct = (values: unknown[]) => new Set(values).size;

async function ownerWithSeats(seats: number): Promise<Owner> {
  const owner = await world.owner();
  await query(sql`
    update workspaces set seats_unlimited = false, seats_granted = ${seats} where workspace_id = ${owner.workspace_id}`);
  return owner;
}

async function numberOf(table: 'memberships' | 'invitations', workspace_id: string, state: string): Promise<number> {
  const rows =
    table === 'memberships'
      ? await query(sql`select 1 from memberships where workspace_id = ${workspace_id} and status = ${state}`)
      : await query(sql`select 1 from invitations where workspace_id = ${workspace_id} and state = ${state}`);
  return rows.length;
}

async function ownersOf(workspace_id: string): Promise<number> {
  const owners = await query(sql`
    select 1 from memberships where workspace_id = ${workspace_id} and role = 'owner' and status = 'active'`);
  return owners.length;
}

function membersOfRole(workspace_id: string, role: RoleSlug, count: number) {
  return Promise.all(Array.from({ length: count }, () => world.member(workspace_id, role)));
}

/** Returns a new user with a pending invitation whose mail was lost, and the secret of its link. */
async function invited({
  workspace_id,
  user_id,
}: Owner): Promise<{ person: Client; token: string; invitation_id: string }> {
  const email = `${randomUUID()}@example.com`;
  const person = await world.person(email);
  const { secret, hash } = newLinkSecret();
  const invitation_id = newId('inv');
  await query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    values (${invitation_id}, ${workspace_id}, ${email}, 'member', ${hash}, ${user_id}, now() + interval '7 days')`);
  return { person, token: secret, invitation_id };
}

async function workspacesOf(person: Client): Promise<number> {
  return (await person.get('/v1/workspaces')).body.length;
}

const invitationRaces: Race[] = [
  {
    name: 'the last seat goes to one invitation',
    async prepare() {
      const owner = await ownerWithSeats(2);
      const path = `${membersOf(owner.workspace_id)}/invite`;
      return {
        call: (i, at) => at(owner).post(path, { email: `${i}@example.com`, role: 'member' }),
        allowedErrors: ['409 seat_limit_reached'],
        check: async () => assert.equal(await numberOf('invitations', owner.workspace_id, 'pending'), 1),
      };
    },
  },
  {
    name: 'the last seat goes to an invitation or to a member who is reactivated',
    only: [20],
    oneOf: 4,
    async prepare(callers) {
      const owner = await ownerWithSeats(2);
      const { workspace_id } = owner;
      const path = membersOf(workspace_id);
      const inactive = await Promise.all(
        Array.from({ length: Math.ceil(callers / 2) }, () => world.member(workspace_id, 'member', 'inactive')),
      );
      return {
        call: (i, at) =>
          i % 2 === 0
            ? at(owner).post(`${path}/${inactive[i / 2]?.membership_id}/reactivate`)
            : at(owner).post(`${path}/invite`, { email: `${i}@example.com`, role: 'member' }),
        allowedErrors: ['409 seat_limit_reached'],
        async check() {
          const active = await numberOf('memberships', workspace_id, 'active');
          assert.equal(active + (await numberOf('invitations', workspace_id, 'pending')), 2, 'Two seats are taken.');
        },
      };
    },
  },
  {
    name: 'an address is invited once',
    only: [20],
    oneOf: 4,
    async prepare() {
      const owner = await world.owner();
      const email = `${randomUUID()}@example.com`;
      return {
        call: (_, at) => at(owner).post(`${membersOf(owner.workspace_id)}/invite`, { email, role: 'member' }),
        allowedErrors: ['409 invitation_pending'],
        check: async () => assert.equal(await numberOf('invitations', owner.workspace_id, 'pending'), 1),
      };
    },
  },
  {
    name: 'an invitation is accepted once',
    async prepare() {
      const owner = await ownerWithSeats(2);
      const { person, token, invitation_id } = await invited(owner);
      return {
        // Half of the callers use the link.
        call: (i, at) =>
          i % 2 === 0
            ? at(person).post('/v1/invitations/accept', { token })
            : at(person).post(`/v1/me/invitations/${invitation_id}/accept`),
        allowedErrors: ['409 conflict', '409 already_member', '404 not_found'],
        check: async () => assert.equal(await numberOf('memberships', owner.workspace_id, 'active'), 2),
      };
    },
  },
];

const ownerRaces: Race[] = [
  {
    name: 'of two owners who demote each other one remains',
    async prepare() {
      const first = await world.owner();
      const { workspace_id } = first;
      const pair = [first, await world.member(workspace_id, 'owner')] as const;
      const callers = new Map<Answer, number>();
      return {
        async call(i, at) {
          const victim = pair[i % 2 === 0 ? 1 : 0].membership_id;
          const answer = await at(pair[i % 2 === 0 ? 0 : 1]).patch(`${membersOf(workspace_id)}/${victim}`, {
            role: 'member',
          });
          callers.set(answer, i % 2);
          return answer;
        },
        // The first caller may succeed repeatedly, but never both callers.
        winners: (answers) => distinct(succeeded(answers).map((answer) => callers.get(answer))),
        allowedErrors: ['403 forbidden', '409 last_owner'],
        check: async () => assert.equal(await ownersOf(workspace_id), 1),
      };
    },
  },
  {
    name: 'of several owners who demote themselves one remains',
    only: [20],
    oneOf: 4,
    async prepare(callers) {
      const first = await world.owner();
      const { workspace_id } = first;
      const owners = [first, ...(await membersOfRole(workspace_id, 'owner', callers - 1))];
      return {
        call: (i, at) => {
          const own = owners[i] as (typeof owners)[number];
          return at(own).patch(`${membersOf(workspace_id)}/${own.membership_id}`, { role: 'member' });
        },
        expectedWinners: callers - 1,
        allowedErrors: ['409 last_owner'],
        check: async () => assert.equal(await ownersOf(workspace_id), 1),
      };
    },
  },
];

const firstCallRaces: Race[] = [
  {
    name: 'of concurrent first calls one creates the workspace, and all answers name it',
    async prepare() {
      const person = await world.person();
      return {
        call: (_, at) => at(person).post('/v1/onboarding'),
        winners: (answers) => answers.filter(({ body }) => body.workspace_created).length,
        allowedErrors: [],
        async check(answers) {
          assert.equal(
            distinct(answers.map(({ body }) => body.workspace.workspace_id)),
            1,
            'All answers name the same one.',
          );
          assert.equal(await workspacesOf(person), 1);
        },
      };
    },
  },
  {
    name: 'of concurrent first calls of an invited user one creates the workspace, and the invitation stays',
    async prepare() {
      const owner = await world.owner();
      const { person } = await invited(owner);
      return {
        call: (_, at) => at(person).post('/v1/onboarding'),
        winners: (answers) => answers.filter(({ body }) => body.workspace_created).length,
        allowedErrors: [],
        async check(answers) {
          assert.equal(
            distinct(answers.map(({ body }) => body.workspace.workspace_id)),
            1,
            'All answers name the same one.',
          );
          assert.equal(await workspacesOf(person), 1);
          assert.equal(await numberOf('invitations', owner.workspace_id, 'pending'), 1);
        },
      };
    },
  },
  {
    name: 'of concurrent first calls and acceptances one accepts, and at most one creates a workspace',
    only: [20],
    oneOf: 4,
    async prepare() {
      const owner = await world.owner();
      const { person, token } = await invited(owner);
      const made = (answers: Answer[]) => answers.filter(({ body }) => body.workspace_created).length;
      return {
        call: (i, at) =>
          i % 2 === 0 ? at(person).post('/v1/onboarding') : at(person).post('/v1/invitations/accept', { token }),
        winners: (answers) => succeeded(answers).filter(({ body }) => body.workspace_created === undefined).length,
        allowedErrors: ['409 conflict', '409 already_member'],
        async check(answers) {
          assert.ok(made(answers) <= 1, 'At most one is created.');
          assert.equal(await workspacesOf(person), 1 + made(answers));
        },
      };
    },
  },
  {
    name: 'users of the same name who sign up concurrently get different slugs',
    only: [20],
    oneOf: 4,
    async prepare(callers, round) {
      const people = await Promise.all(
        Array.from({ length: callers }, (_, i) => world.person(`same${round}@${i}.example`)),
      );
      return {
        call: (i, at) => at(people[i] as Client).post('/v1/onboarding'),
        expectedWinners: callers,
        allowedErrors: [],
        check: (answers) => assert.equal(distinct(answers.map(({ body }) => body.workspace.slug)), callers),
      };
    },
  },
  {
    name: 'a token that is used for the first time creates one user',
    only: [20],
    oneOf: 4,
    async prepare(callers) {
      await query(sql`
        delete from users u using identities i where i.user_id = u.user_id and i.issuer = ${provider.issuer}`);
      const person = world.as(await provider.token('ES256'));
      return {
        call: (_, at) => at(person).get('/v1/workspaces'),
        expectedWinners: callers,
        allowedErrors: [],
        async check() {
          const [users] = await query(sql`
            select (select count(*)::int from identities where issuer = ${provider.issuer}) as identities,
              (select count(*)::int from users where lower(email) = 'ann.lee@example.org') as users`);
          assert.deepEqual(users, { identities: 1, users: 1 });
        },
      };
    },
  },
];

const creator = await world.owner();
const wikisOf = `/v1/workspaces/${creator.workspace_id}/wikis`;

const creationRaces: Race[] = [
  {
    name: "a workspace's slug goes to one workspace",
    async prepare() {
      const slug = `wanted-${randomUUID().slice(0, 13)}`;
      return {
        call: (_, at) => at(creator).post('/v1/workspaces', { name: 'W', slug }),
        allowedErrors: ['409 slug_taken'],
      };
    },
  },
  {
    name: "a wiki's slug goes to one wiki",
    only: [20],
    oneOf: 4,
    async prepare() {
      const slug = `wanted-${randomUUID().slice(0, 13)}`;
      return { call: (_, at) => at(creator).post(wikisOf, { title: 'W', slug }), allowedErrors: ['409 slug_taken'] };
    },
  },
  {
    name: 'names with the same slug get different ones',
    only: [20],
    oneOf: 4,
    async prepare(callers) {
      const name = `Derived ${randomUUID().slice(0, 13)}`;
      return {
        call: (i, at) =>
          i % 2 === 0 ? at(creator).post('/v1/workspaces', { name }) : at(creator).post(wikisOf, { title: name }),
        expectedWinners: callers,
        allowedErrors: [],
        check(answers) {
          const slugs = answers.map(({ body }) => `${body.wiki_id ? 'wiki' : 'workspace'} ${body.slug}`);
          assert.equal(distinct(slugs), callers);
        },
      };
    },
  },
  {
    name: 'a request with an Idempotency-Key happens once',
    async prepare() {
      const name = `Once ${randomUUID()}`;
      const headers = { 'idempotency-key': randomUUID() };
      return {
        call: (_, at) => at(creator).post('/v1/workspaces', { name }, headers),
        winners: (answers) => succeeded(answers).filter((answer) => !answer.headers.has('idempotency-replayed')).length,
        allowedErrors: ['409 idempotency_in_progress'],
        async check(answers) {
          assert.equal(
            distinct(succeeded(answers).map(({ body }) => body.workspace_id)),
            1,
            'All answers name the same one.',
          );
          assert.equal((await query(sql`select 1 from workspaces where name = ${name}`)).length, 1);
        },
      };
    },
  },
  {
    name: "an edit with an Idempotency-Key happens once, and no caller is refused because of another's write",
    only: [20],
    oneOf: 4,
    async prepare() {
      const pages = `/v1/wikis/${creator.wiki_id}/pages`;
      const { body: page } = await creator.post(pages, { title: `Edited ${randomUUID()}`, markdown: 'one' });
      const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      const body = JSON.stringify({ markdown: 'two', base_revision: 1 });
      return {
        call: (_, at) => at(creator).send('PATCH', `${pages}/${page.page_id}`, { headers, body }),
        winners: (answers) => succeeded(answers).filter((answer) => !answer.headers.has('idempotency-replayed')).length,
        allowedErrors: ['409 idempotency_in_progress'],
        async check(answers) {
          assert.deepEqual(new Set(succeeded(answers).map((answer) => answer.body.revision)), new Set([2]));
          assert.equal((await creator.get(`${pages}/${page.page_id}`)).body.revision, 2);
        },
      };
    },
  },
  {
    name: 'a key is revoked once',
    async prepare() {
      const path = `/v1/workspaces/${creator.workspace_id}/api-keys`;
      const { key_id } = (await creator.post(path, { name: 'Key' })).body;
      return {
        call: (_, at) => at(creator).send('DELETE', `${path}/${key_id}`),
        allowedErrors: ['404 not_found'],
        async check() {
          const noted = await query(sql`
            select 1 from audit_events where type = 'api_key.revoked' and target_id = ${key_id}`);
          assert.equal(noted.length, 1, 'The audit log has it once.');
        },
      };
    },
  },
  {
    name: 'the same bytes become one source and one page, and no upload fails',
    only: [20],
    // Twenty uploads of a wiki are twenty jobs in sequence.
    oneOf: 10,
    async prepare(callers, round) {
      const owner = await world.owner();
      const { wiki_id } = owner;
      return {
        call(_, at) {
          const form = new FormData();
          form.append('files', new Blob([`# Round ${round}\n`]), 'guide/same.md');
          return at(owner).send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
        },
        expectedWinners: callers,
        allowedErrors: [],
        async check(answers) {
          const ended = await Promise.all(answers.map(({ body }) => waitForUpload(owner, wiki_id, body.upload_id)));
          assert.deepEqual(new Set(ended.map(({ body }) => body.status)), new Set(['completed']));
          const made = ended.reduce((sum, { body }) => sum + body.source_count, 0);
          assert.equal(made, 1, 'One upload made the source.');
          const [counted] = await query(sql`
            select (select count(*)::int from sources where wiki_id = ${wiki_id}) as sources,
              array(select path from pages where wiki_id = ${wiki_id} order by path) as pages,
              (select count(*)::int from revisions where wiki_id = ${wiki_id}) as revisions,
              (select sum(failures)::int from jobs where wiki_id = ${wiki_id}) as failures`);
          assert.deepEqual(counted, { sources: 1, pages: ['guide', 'guide/same'], revisions: 2, failures: 0 });
        },
      };
    },
  },
];

const sessionRaces: Race[] = [
  {
    name: 'a refresh token works once, and using it again ends its session',
    async prepare() {
      const { user_id } = await world.person();
      const { tokens } = await signedInClient(world, user_id);
      const { refresh_token } = tokens;
      return {
        call: (_, at) => at(world.anonymous).post('/v1/auth/refresh', { refresh_token }),
        allowedErrors: ['401 unauthorized'],
        async check(answers) {
          const [renewed] = succeeded(answers);
          for (const client of atBoth(world.as(renewed?.body.access_token))) {
            assert.equal((await client.get('/v1/me')).status, 401);
          }
          const records = await query(sql`
            select 1 from audit_events where type = 'session.reuse_detected' and actor_id = ${user_id}`);
          assert.equal(records.length, 1, 'the reuse of a token is one record');
        },
      };
    },
  },
  {
    name: 'a sign-in link signs in once',
    async prepare() {
      const token = await signInLink(world, (await world.person()).user_id);
      return {
        call: (_, at) => at(world.anonymous).post('/v1/auth/email/complete', { token }),
        allowedErrors: ['401 unauthorized'],
      };
    },
  },
];

testRaces([...invitationRaces, ...ownerRaces, ...firstCallRaces, ...creationRaces, ...sessionRaces], atBoth);

test('after all races, the member count of every workspace equals its active members', async () => {
  const wrong = await query(sql`
    select w.workspace_id, w.active_members, m.active from workspaces w
    cross join lateral (
      select count(*)::int as active from memberships m where m.workspace_id = w.workspace_id and m.status = 'active') m
    where w.active_members is distinct from m.active`);
  assert.deepEqual(wrong, []);
});
