import { brokenLinks } from './pages/broken-links.ts';
import { diagramFrame } from './pages/diagram.ts';
import { connectAccounts } from './pages/entrance/connect-accounts.ts';
import { acceptInvitation, invitation, joinByInvitation } from './pages/entrance/invitation.ts';
import { acceptOwnInvitation, ownInvitations } from './pages/entrance/own-invitations.ts';
import { beginOpenId, completeOpenId, sendSignIn, signIn, signInByLink } from './pages/entrance/sign-in.ts';
import { signedOut, signOut } from './pages/entrance/sign-out.ts';
import { makeFirstUser, welcome } from './pages/entrance/welcome.ts';
import { decideGone, gone } from './pages/gone.ts';
import { history, restoreRevision } from './pages/history.ts';
import { begin, beginWorkspace, chooseTheme, home } from './pages/home.ts';
import { chooseHome } from './pages/homes/chosen-home.ts';
import { changeStars } from './pages/homes/stars.ts';
import { branchPages, overview, rootPages, wikiHome } from './pages/homes/wiki-home.ts';
import { workspace } from './pages/homes/workspace-home.ts';
import { duplicatePage, movePage, orderPage, saveMove } from './pages/move-page.ts';
import { operatorOverview, retryFailedJob } from './pages/operator/overview.ts';
import { changeOperatedWorkspace, operatedWorkspace } from './pages/operator/workspace.ts';
import { pdfFrame } from './pages/pdf.ts';
import { readPage } from './pages/read-page.ts';
import { changeSavedSearches } from './pages/search/saved-searches.ts';
import { search } from './pages/search/search.ts';
import { audit } from './pages/settings/audit.ts';
import { billing, changeBilling } from './pages/settings/billing.ts';
import { confirmEmailChange, emailChange } from './pages/settings/email-change.ts';
import { changeGeneral, general } from './pages/settings/general.ts';
import { changeOwnKeys, changeWorkspaceKeys, ownKeys, workspaceKeys } from './pages/settings/keys.ts';
import { changeMembers, members } from './pages/settings/members.ts';
import { changeProfile, profile } from './pages/settings/profile.ts';
import { changeRetention, retention } from './pages/settings/retention.ts';
import { usage } from './pages/settings/usage.ts';
import { changeWidgets, widgets } from './pages/settings/widgets.ts';
import { changeWikis, wikis } from './pages/settings/wikis.ts';
import { source, sources } from './pages/sources.ts';
import { keepStale, stale } from './pages/stale.ts';
import { tags } from './pages/tags.ts';
import { beginExport, beginImport, transfer } from './pages/transfer.ts';
import { movePageToTrash, restoreFromTrash, trash } from './pages/trash.ts';
import { sendUpload, upload } from './pages/upload.ts';
import { cancelUpload, oneUpload, retryUpload, uploads } from './pages/uploads.ts';
import { widgetFrame } from './pages/widget-frame.ts';
import { changeTemplates, templates } from './pages/writing/templates.ts';
import { editPage, editPageById, newPage, saveEdit, saveNewPage } from './pages/writing/write-page.ts';
import type { WebRoute } from './visit.ts';

export const ROUTES: readonly WebRoute[] = [
  home,
  // signing in
  signIn,
  sendSignIn,
  signInByLink,
  beginOpenId,
  completeOpenId,
  connectAccounts,
  signOut,
  signedOut,
  emailChange,
  confirmEmailChange,
  welcome,
  makeFirstUser,
  invitation,
  acceptInvitation,
  joinByInvitation,
  ownInvitations,
  acceptOwnInvitation,
  begin,
  beginWorkspace,
  chooseTheme,
  // reading
  workspace,
  wikiHome,
  overview,
  chooseHome,
  readPage,
  rootPages,
  branchPages,
  history,
  diagramFrame,
  pdfFrame,
  search,
  changeSavedSearches,
  changeStars,
  tags,
  sources,
  source,
  // writing
  newPage,
  saveNewPage,
  editPage,
  editPageById,
  saveEdit,
  templates,
  changeTemplates,
  restoreRevision,
  movePage,
  saveMove,
  duplicatePage,
  orderPage,
  movePageToTrash,
  trash,
  restoreFromTrash,
  gone,
  decideGone,
  stale,
  keepStale,
  brokenLinks,
  // uploading, exporting and importing
  upload,
  sendUpload,
  uploads,
  oneUpload,
  retryUpload,
  cancelUpload,
  transfer,
  beginExport,
  beginImport,
  // settings
  general,
  changeGeneral,
  wikis,
  changeWikis,
  members,
  changeMembers,
  workspaceKeys,
  changeWorkspaceKeys,
  widgets,
  changeWidgets,
  billing,
  changeBilling,
  usage,
  audit,
  retention,
  changeRetention,
  profile,
  changeProfile,
  ownKeys,
  changeOwnKeys,
  widgetFrame,
  // operation
  operatorOverview,
  retryFailedJob,
  operatedWorkspace,
  changeOperatedWorkspace,
];
