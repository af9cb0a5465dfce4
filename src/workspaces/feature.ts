import type { Feature } from '../jobs/define-job.ts';
import { createWorkspace } from './create-workspace.ts';
import { getOverview } from './get-overview.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { onboarding } from './onboarding.ts';

export const workspaces: Feature = {
  endpoints: [onboarding, getOverview, listWorkspaces, createWorkspace],
};
