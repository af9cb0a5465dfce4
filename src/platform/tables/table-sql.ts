import { ownerColumn, type Table } from './define-table.ts';

const BY_WIKI = 'wiki_id = (select own_wiki())';
const BY_USER = 'user_id = (select own_user())';
const BY_SERVICE = '(select is_service())';

/** Name and condition of the standard policy for each owner. */
const POLICIES: Record<Table['of'], [name: string, using: string]> = {
  wiki: ['of_the_wiki', BY_WIKI],
  workspace: ['of_the_workspaces', 'workspace_id = any ((select own_workspaces())::text[])'],
  // Sign-in looks up users before it knows the caller.
  user: ['self', `${BY_USER} or ${BY_SERVICE}`],
  member: ['of_the_user', `${BY_WIKI} and ${BY_USER}`],
  service: ['of_the_service', BY_SERVICE],
};

/** Returns name and condition of the declared policy; undefined if only the migration defines it. */
export function policyOf({ of, policy }: Table): { name: string; using: string } | undefined {
  if (policy === 'special' || policy === 'none') return undefined;
  const [name, using] = POLICIES[of];
  return { name, using: policy === 'shared' ? `(${using}) or ${BY_SERVICE}` : using };
}

export function grantSql({ name, rights }: Table): string {
  return `grant ${rights} on ${name} to ibid_service;`;
}

export function policySql(table: Table): string {
  const policy = policyOf(table);
  const enabled = `alter table ${table.name} enable row level security;`;
  return policy ? `${enabled}\ncreate policy ${policy.name} on ${table.name} using (${policy.using});` : enabled;
}

/** Sets the planner's number of distinct owners for a large table, because a sample estimates it badly. */
export function distinctSql(table: Table): string {
  return `alter table ${table.name} alter column ${ownerColumn(table)} set (n_distinct = 20);`;
}

/** Returns the statements that the declaration of a table requires in a migration. */
export function declaredSql(table: Table): string {
  return [
    table.rights === '' ? '' : grantSql(table),
    table.policy === 'none' ? '' : policySql(table),
    table.rows === 'many' && table.of !== 'service' ? distinctSql(table) : '',
  ]
    .filter(Boolean)
    .join('\n');
}
