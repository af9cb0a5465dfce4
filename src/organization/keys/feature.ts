import type { Feature } from '../../platform/feature.ts';
import { createPersonalKey } from './create-personal-key.ts';
import { createWorkspaceKey } from './create-workspace-key.ts';
import { listPersonalKeys } from './list-personal-keys.ts';
import { listWorkspaceKeys } from './list-workspace-keys.ts';
import { revokePersonalKey } from './revoke-personal-key.ts';
import { revokeWorkspaceKey } from './revoke-workspace-key.ts';
import { keyTables } from './tables.ts';

export const keys: Feature = {
  endpoints: [
    listWorkspaceKeys,
    createWorkspaceKey,
    revokeWorkspaceKey,
    listPersonalKeys,
    createPersonalKey,
    revokePersonalKey,
  ],
  tables: keyTables,
};
