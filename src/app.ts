import { previewBilling } from './billing/preview-billing.ts';
import type { Endpoint } from './http/endpoint.ts';
import { inviteMember } from './invitations/invite-member.ts';
import { listJobs } from './jobs/list-jobs.ts';
import { changeRole } from './members/change-role.ts';
import { listMembers } from './members/list-members.ts';
import { getPage } from './pages/get-page.ts';
import { getPageByPath } from './pages/get-page-by-path.ts';
import { listPages } from './pages/list-pages.ts';
import { searchPages } from './pages/search-pages.ts';
import { listSources } from './sources/list-sources.ts';
import { searchSources } from './sources/search-sources.ts';
import { createUpload } from './uploads/create-upload.ts';
import { getUpload } from './uploads/get-upload.ts';
import { developersWidget } from './widgets/developers-widget.ts';
import { enterpriseWidget } from './widgets/enterprise-widget.ts';
import { issueWidgetToken } from './widgets/issue-widget-token.ts';
import { profileWidget } from './widgets/profile-widget.ts';
import { createWiki } from './wikis/create-wiki.ts';
import { listWikis } from './wikis/list-wikis.ts';
import { renameWiki } from './wikis/rename-wiki.ts';
import { createWorkspace } from './workspaces/create-workspace.ts';
import { getOverview } from './workspaces/get-overview.ts';
import { listWorkspaces } from './workspaces/list-workspaces.ts';
import { onboarding } from './workspaces/onboarding.ts';

/** The whole API: what is not in this list does not exist. */
export const ENDPOINTS: readonly Endpoint[] = [
  // workspaces and who belongs to them
  onboarding,
  getOverview,
  listWorkspaces,
  createWorkspace,
  listMembers,
  inviteMember,
  changeRole,
  issueWidgetToken,
  profileWidget,
  enterpriseWidget,
  developersWidget,
  previewBilling,
  // wikis and what they hold
  listWikis,
  createWiki,
  renameWiki,
  createUpload,
  getUpload,
  listJobs,
  listSources,
  searchSources,
  listPages,
  searchPages,
  getPage,
  getPageByPath,
];
