import type { Feature } from '../../platform/feature.ts';
import { changePreferences } from './account/change-preferences.ts';
import { connectAccounts } from './account/connect-accounts.ts';
import { getConnection } from './account/get-connection.ts';
import { getPreferences } from './account/get-preferences.ts';
import { listOwnMethods } from './account/list-own-methods.ts';
import { deleteAvatar } from './avatar/delete-avatar.ts';
import { getAvatar } from './avatar/get-avatar.ts';
import { putAvatar } from './avatar/put-avatar.ts';
import { beginOpenId } from './begin-openid.ts';
import { changeName } from './change-name.ts';
import { completeEmailLink } from './complete-email-link.ts';
import { completeOpenId } from './complete-openid.ts';
import { createCookieSession } from './create-cookie-session.ts';
import { confirmEmailChange } from './email-change/confirm-email-change.ts';
import { listEmailChanges } from './email-change/list-email-changes.ts';
import { requestEmailChange } from './email-change/request-email-change.ts';
import { sendEmailChangeMail } from './email-change/send-email-change-mail.job.ts';
import { makeFirstOwner } from './first-owner.ts';
import { getMe } from './get-me.ts';
import { getSignOut } from './get-sign-out.ts';
import { listMethods } from './list-methods.ts';
import { listSessions } from './list-sessions.ts';
import { lookupEmailLink } from './lookup-email-link.ts';
import { removePassword } from './password/remove-password.ts';
import { sendGuessWarning } from './password/send-guess-warning.job.ts';
import { setPassword } from './password/set-password.ts';
import { signInWithPassword } from './password/sign-in-with-password.ts';
import { refreshSession } from './refresh-session.ts';
import { requestEmailLink } from './request-email-link.ts';
import { revokeSession } from './revoke-session.ts';
import { sendSignInMail } from './send-sign-in-mail.job.ts';
import { signInByInvitation } from './sign-in-by-invitation.ts';
import { signOut } from './sign-out.ts';
import { signOutEverywhere } from './sign-out-everywhere.ts';
import { sessionTables } from './tables.ts';

export const session: Feature = {
  endpoints: [
    listMethods,
    requestEmailLink,
    lookupEmailLink,
    completeEmailLink,
    signInWithPassword,
    beginOpenId,
    completeOpenId,
    signInByInvitation,
    makeFirstOwner,
    refreshSession,
    createCookieSession,
    getSignOut,
    signOut,
    signOutEverywhere,
    getMe,
    changeName,
    requestEmailChange,
    listEmailChanges,
    confirmEmailChange,
    putAvatar,
    deleteAvatar,
    getAvatar,
    getPreferences,
    changePreferences,
    listOwnMethods,
    getConnection,
    connectAccounts,
    listSessions,
    revokeSession,
    setPassword,
    removePassword,
  ],
  jobs: [sendSignInMail, sendGuessWarning, sendEmailChangeMail],
  tables: sessionTables,
};
