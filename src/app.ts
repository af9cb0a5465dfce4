import { createAttachment } from './attachments/create-attachment.ts';
import { deleteAttachment } from './attachments/delete-attachment.ts';
import { getAttachment } from './attachments/get-attachment.ts';
import { listAttachments } from './attachments/list-attachments.ts';
import { listAuditEvents } from './audit/list-audit-events.ts';
import { listPlans } from './billing/list-plans.ts';
import { previewBilling } from './billing/preview-billing.ts';
import { deleteUnreferencedBlobs } from './blobs/delete-unreferenced-blobs.job.ts';
import { removeUnfinishedBlobs } from './blobs/remove-unfinished-blobs.job.ts';
import { trackStoredBlobs } from './blobs/track-stored-blobs.job.ts';
import type { Endpoint } from './http/endpoint.ts';
import { ingestJob } from './ingest/ingest.job.ts';
import { acceptInvitation } from './invitations/accept-invitation.ts';
import { inviteMember } from './invitations/invite-member.ts';
import { listInvitations } from './invitations/list-invitations.ts';
import { lookupInvitation } from './invitations/lookup-invitation.ts';
import { resendInvitation } from './invitations/resend-invitation.ts';
import { revokeInvitation } from './invitations/revoke-invitation.ts';
import { sendInvitationMail } from './invitations/send-invitation-mail.job.ts';
import { cancelJob } from './jobs/cancel-job.ts';
import type { AnyJob } from './jobs/define-job.ts';
import { getJob } from './jobs/get-job.ts';
import { listJobs } from './jobs/list-jobs.ts';
import { pruneOldIdempotencyKeys } from './jobs/prune-idempotency-keys.job.ts';
import { streamJob } from './jobs/stream-job.ts';
import { createPersonalKey } from './keys/create-personal-key.ts';
import { createWorkspaceKey } from './keys/create-workspace-key.ts';
import { listPersonalKeys } from './keys/list-personal-keys.ts';
import { listWorkspaceKeys } from './keys/list-workspace-keys.ts';
import { revokePersonalKey } from './keys/revoke-personal-key.ts';
import { revokeWorkspaceKey } from './keys/revoke-workspace-key.ts';
import { changeRole } from './members/change-role.ts';
import { deactivateMember } from './members/deactivate-member.ts';
import { listMembers } from './members/list-members.ts';
import { reactivateMember } from './members/reactivate-member.ts';
import { removeMember } from './members/remove-member.ts';
import { transferOwnership } from './members/transfer-ownership.ts';
import { createPage } from './pages/create-page.ts';
import { editPage } from './pages/edit-page.ts';
import { getPage } from './pages/get-page.ts';
import { getPageByPath } from './pages/get-page-by-path.ts';
import { getTree } from './pages/get-tree.ts';
import { listBacklinks } from './pages/list-backlinks.ts';
import { listBranches } from './pages/list-branches.ts';
import { listChildren } from './pages/list-children.ts';
import { listPages } from './pages/list-pages.ts';
import { listTrash } from './pages/list-trash.ts';
import { previewPage } from './pages/preview-page.ts';
import { purgeTrash } from './pages/purge-trash.job.ts';
import { restorePage } from './pages/restore-page.ts';
import { searchPages } from './pages/search-pages.ts';
import { suggestPages } from './pages/suggest-pages.ts';
import { trashPage } from './pages/trash-page.ts';
import { diffRevisions } from './revisions/diff-revisions.ts';
import { getRevision } from './revisions/get-revision.ts';
import { listRevisions } from './revisions/list-revisions.ts';
import { restoreRevision } from './revisions/restore-revision.ts';
import { mergeSearchIndex } from './search/index/merge-search-index.job.ts';
import { reindexJob } from './search/index/reindex.job.ts';
import { beginOpenId } from './session/begin-openid.ts';
import { changeName } from './session/change-name.ts';
import { completeEmailLink } from './session/complete-email-link.ts';
import { completeOpenId } from './session/complete-openid.ts';
import { createCookieSession } from './session/create-cookie-session.ts';
import { makeFirstOwner } from './session/first-owner.ts';
import { getMe } from './session/get-me.ts';
import { listMethods } from './session/list-methods.ts';
import { listSessions } from './session/list-sessions.ts';
import { removePassword } from './session/password/remove-password.ts';
import { setPassword } from './session/password/set-password.ts';
import { signInWithPassword } from './session/password/sign-in-with-password.ts';
import { refreshSession } from './session/refresh-session.ts';
import { requestEmailLink } from './session/request-email-link.ts';
import { revokeSession } from './session/revoke-session.ts';
import { sendSignInMail } from './session/send-sign-in-mail.job.ts';
import { signOut } from './session/sign-out.ts';
import { signOutEverywhere } from './session/sign-out-everywhere.ts';
import { deleteSource } from './sources/delete-source.ts';
import { getCoverage } from './sources/get-coverage.ts';
import { getSource } from './sources/get-source.ts';
import { getSourceContent } from './sources/get-source-content.ts';
import { getSourceText } from './sources/get-source-text.ts';
import { listCitations } from './sources/list-citations.ts';
import { listSources } from './sources/list-sources.ts';
import { searchSources } from './sources/search-sources.ts';
import { verifySource } from './sources/verify-source.ts';
import { createExport } from './transfer/export/create-export.ts';
import { deleteExpiredExports } from './transfer/export/delete-expired-exports.job.ts';
import { exportJob } from './transfer/export/export.job.ts';
import { getExportContent } from './transfer/export/get-export-content.ts';
import { createImport } from './transfer/import/create-import.ts';
import { importJob } from './transfer/import/import.job.ts';
import { cancelUpload } from './uploads/cancel-upload.ts';
import { completeUpload } from './uploads/complete-upload.ts';
import { createUpload } from './uploads/create-upload.ts';
import { describeTus } from './uploads/describe-tus.ts';
import { expireUploads, removeOrphanedParts } from './uploads/expire-uploads.job.ts';
import { getFile } from './uploads/get-file.ts';
import { getUpload } from './uploads/get-upload.ts';
import { listFiles } from './uploads/list-files.ts';
import { listUploads } from './uploads/list-uploads.ts';
import { receiveBytes } from './uploads/receive-bytes.ts';
import { retryUpload } from './uploads/retry-upload.ts';
import { changeWidgetOrigins } from './widgets/change-widget-origins.ts';
import { developersWidget } from './widgets/developers-widget.ts';
import { enterpriseWidget } from './widgets/enterprise-widget.ts';
import { getWidgetOrigins } from './widgets/get-widget-origins.ts';
import { issueWidgetToken } from './widgets/issue-widget-token.ts';
import { mayBeFramed } from './widgets/may-be-framed.ts';
import { profileWidget } from './widgets/profile-widget.ts';
import { createWiki } from './wikis/create-wiki.ts';
import { deleteWiki } from './wikis/delete-wiki.ts';
import { getWiki } from './wikis/get-wiki.ts';
import { listWikis } from './wikis/list-wikis.ts';
import { removeDeletedWiki } from './wikis/remove-deleted-wiki.job.ts';
import { renameWiki } from './wikis/rename-wiki.ts';
import { createWorkspace } from './workspaces/create-workspace.ts';
import { getOverview } from './workspaces/get-overview.ts';
import { listWorkspaces } from './workspaces/list-workspaces.ts';
import { onboarding } from './workspaces/onboarding.ts';

/** The whole API: what is not in this list does not exist. */
export const ENDPOINTS: readonly Endpoint[] = [
  // signing in
  listMethods,
  requestEmailLink,
  completeEmailLink,
  signInWithPassword,
  beginOpenId,
  completeOpenId,
  makeFirstOwner,
  refreshSession,
  createCookieSession,
  signOut,
  signOutEverywhere,
  getMe,
  changeName,
  listSessions,
  revokeSession,
  setPassword,
  removePassword,
  // workspaces and who belongs to them
  onboarding,
  getOverview,
  listWorkspaces,
  createWorkspace,
  listMembers,
  changeRole,
  deactivateMember,
  reactivateMember,
  removeMember,
  transferOwnership,
  inviteMember,
  listInvitations,
  resendInvitation,
  revokeInvitation,
  lookupInvitation,
  acceptInvitation,
  listWorkspaceKeys,
  createWorkspaceKey,
  revokeWorkspaceKey,
  listPersonalKeys,
  createPersonalKey,
  revokePersonalKey,
  listAuditEvents,
  issueWidgetToken,
  profileWidget,
  enterpriseWidget,
  developersWidget,
  getWidgetOrigins,
  changeWidgetOrigins,
  mayBeFramed,
  listPlans,
  previewBilling,
  // wikis and what they hold
  listWikis,
  createWiki,
  getWiki,
  renameWiki,
  deleteWiki,
  createExport,
  getExportContent,
  createImport,
  createUpload,
  listUploads,
  getUpload,
  listFiles,
  describeTus,
  getFile,
  receiveBytes,
  completeUpload,
  cancelUpload,
  retryUpload,
  listJobs,
  getJob,
  streamJob,
  cancelJob,
  listSources,
  searchSources,
  getSource,
  getSourceText,
  getSourceContent,
  getCoverage,
  verifySource,
  deleteSource,
  listPages,
  createPage,
  previewPage,
  searchPages,
  suggestPages,
  getPage,
  getPageByPath,
  editPage,
  trashPage,
  restorePage,
  listChildren,
  getTree,
  listBranches,
  listTrash,
  listRevisions,
  getRevision,
  diffRevisions,
  restoreRevision,
  listBacklinks,
  listCitations,
  createAttachment,
  listAttachments,
  getAttachment,
  deleteAttachment,
];

/** Everything that is done later. What is not in this list is never run. */
export const JOBS: readonly AnyJob[] = [
  // public records
  ingestJob,
  exportJob,
  importJob,
  reindexJob,
  // mail
  sendInvitationMail,
  sendSignInMail,
  // the search index
  mergeSearchIndex,
  // maintenance
  purgeTrash,
  removeDeletedWiki,
  expireUploads,
  removeOrphanedParts,
  deleteExpiredExports,
  deleteUnreferencedBlobs,
  trackStoredBlobs,
  removeUnfinishedBlobs,
  pruneOldIdempotencyKeys,
];
