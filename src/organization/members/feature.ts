import type { Feature } from '../../platform/feature.ts';
import { changeRole } from './change-role.ts';
import { deactivateMember } from './deactivate-member.ts';
import { listMembers } from './list-members.ts';
import { reactivateMember } from './reactivate-member.ts';
import { removeMember } from './remove-member.ts';
import { memberTables } from './tables.ts';
import { transferOwnership } from './transfer-ownership.ts';

export const members: Feature = {
  endpoints: [listMembers, changeRole, deactivateMember, reactivateMember, removeMember, transferOwnership],
  tables: memberTables,
};
