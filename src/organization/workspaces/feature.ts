import type { Feature } from '../../platform/feature.ts';
import { createWorkspace } from './create-workspace.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { getOverview } from './get-overview.ts';
import { listDeletedWorkspaces } from './list-deleted-workspaces.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { deleteLogo } from './logo/delete-logo.ts';
import { getLogo } from './logo/get-logo.ts';
import { putLogo } from './logo/put-logo.ts';
import { lookupWorkspace } from './lookup-workspace.ts';
import { onboarding } from './onboarding.ts';
import { purgeDeletedWorkspaces } from './purge-deleted-workspaces.job.ts';
import { renameWorkspace } from './rename-workspace.ts';
import { restoreWorkspace } from './restore-workspace.ts';
import { workspaceTables } from './tables.ts';

export const workspaces: Feature = {
  endpoints: [
    onboarding,
    getOverview,
    listWorkspaces,
    createWorkspace,
    lookupWorkspace,
    renameWorkspace,
    deleteWorkspace,
    listDeletedWorkspaces,
    restoreWorkspace,
    putLogo,
    getLogo,
    deleteLogo,
  ],
  jobs: [purgeDeletedWorkspaces],
  tables: workspaceTables,
};
