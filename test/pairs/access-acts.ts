import { putAccess } from '../restrict.ts';
import { PEOPLE_ACTS } from './people-acts.ts';
import type { Act } from './run-pairs.ts';
import type { Stage } from './stage.ts';
import { PAGE_ACTS } from './wiki-acts.ts';

const page = ({ wiki_id, ids }: Stage, name: string) => ({ wiki_id, page_id: ids[name] ?? '' });
const closed = ({ ids }: Stage, name: string) => ({ wiki_id: ids.closedWiki ?? '', page_id: ids[name] ?? '' });
const pathOf = ({ wiki_id, page_id }: { wiki_id: string; page_id: string }) => `/v1/wikis/${wiki_id}/pages/${page_id}`;

const NAMES = {
  pages: [
    'create below',
    'edit the text below',
    'edit the text of a leaf',
    'move to the root',
    'move below the top',
    'move into a leaf',
    'trash the top',
    'trash what is below',
    'trash a leaf',
    'restore from the trash',
    'restore what is old',
    'purge the trash',
    'attach to a page',
    'star',
    'delete the wiki',
    'ingest',
  ],
  people: ['leave', 'remove a member', 'deactivate a member', 'make a member viewer', 'delete the account'],
};

/**
 * Changes of who sees pages, and writes that meet them. In the first wiki no page was ever restricted. In the second one
 * owner and co-owner manage the page "vault", and the member writes it.
 */
export const ACCESS_ACTS: Record<string, Act> = {
  'restrict the top': (s) => putAccess(s.owner, page(s, 'top'), {}),
  'restrict what is below': (s) => putAccess(s.owner, page(s, 'below'), {}),
  'restrict it, too': (s) => putAccess(s.people.member, page(s, 'below'), {}),
  'restrict a leaf': (s) => putAccess(s.people.member, page(s, 'deep'), {}),
  'restrict another page': (s) => putAccess(s.owner, page(s, 'other'), {}),
  'restrict a compiled page': (s) => putAccess(s.owner, page(s, 'a'), {}),
  'restrict a folder': (s) => putAccess(s.owner, page(s, 'guide'), {}),
  'grant a page to a member': (s) => putAccess(s.owner, page(s, 'below'), { [s.people.member.user_id]: 'write' }),
  'grant the vault to another': (s) =>
    putAccess(s.owner, closed(s, 'vault'), {
      [s.owner.user_id]: 'manage',
      [s.people.coOwner.user_id]: 'manage',
      [s.people.admin.user_id]: 'write',
      [s.people.member.user_id]: 'read',
    }),
  'take the vault over': (s) =>
    putAccess(s.people.coOwner, closed(s, 'vault'), { [s.people.coOwner.user_id]: 'manage' }),
  'take it back': (s) => putAccess(s.owner, closed(s, 'vault'), { [s.owner.user_id]: 'manage' }),
  'lift the vault': (s) => s.owner.send('DELETE', `${pathOf(closed(s, 'vault'))}/access`),
  'lift it, too': (s) => s.people.coOwner.send('DELETE', `${pathOf(closed(s, 'vault'))}/access`),
  'restrict what is inside': (s) => putAccess(s.owner, closed(s, 'inside'), {}),
  'restrict the inside, too': (s) => putAccess(s.people.coOwner, closed(s, 'inside'), {}),
  'edit the vault': (s) => s.people.member.patch(pathOf(closed(s, 'vault')), { markdown: 'New.', base_revision: 1 }),
  'move out of the vault': (s) => s.people.member.patch(pathOf(closed(s, 'inside')), { parent_page_id: '' }),
  'move into the vault': (s) =>
    s.owner.patch(pathOf(closed(s, 'outside')), { parent_page_id: closed(s, 'vault').page_id }),
  'trash the vault': (s) => s.people.coOwner.send('DELETE', pathOf(closed(s, 'vault'))),
  ...Object.fromEntries(NAMES.pages.map((name) => [name, PAGE_ACTS[name] as Act])),
  ...Object.fromEntries(NAMES.people.map((name) => [name, PEOPLE_ACTS[name] as Act])),
};
