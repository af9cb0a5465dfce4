import type { Endpoint } from '../platform/http/endpoint.ts';
import { underWidget } from '../platform/http/widget-endpoint.ts';
import { listAuditEvents } from './audit/list-audit-events.ts';
import { listRequests } from './audit/list-requests.ts';
import { getBilling } from './billing/get-billing.ts';
import { listPlans } from './billing/list-plans.ts';
import { previewBilling } from './billing/preview-billing.ts';
import { startCheckout } from './billing/start-checkout.ts';
import { inviteMember } from './invitations/invite-member.ts';
import { listInvitations } from './invitations/list-invitations.ts';
import { resendInvitation } from './invitations/resend-invitation.ts';
import { revokeInvitation } from './invitations/revoke-invitation.ts';
import { createWorkspaceKey } from './keys/create-workspace-key.ts';
import { listWorkspaceKeys } from './keys/list-workspace-keys.ts';
import { revokeWorkspaceKey } from './keys/revoke-workspace-key.ts';
import { changeRole } from './members/change-role.ts';
import { deactivateMember } from './members/deactivate-member.ts';
import { listMembers } from './members/list-members.ts';
import { reactivateMember } from './members/reactivate-member.ts';
import { removeMember } from './members/remove-member.ts';
import { changePreferences } from './session/account/change-preferences.ts';
import { getPreferences } from './session/account/get-preferences.ts';
import { listOwnMethods } from './session/account/list-own-methods.ts';
import { deleteAvatar } from './session/avatar/delete-avatar.ts';
import { putAvatar } from './session/avatar/put-avatar.ts';
import { changeName } from './session/change-name.ts';
import { listSessions } from './session/list-sessions.ts';
import { revokeSession } from './session/revoke-session.ts';
import { changeWidgetOrigins } from './widgets/change-widget-origins.ts';
import { getWidgetOrigins } from './widgets/get-widget-origins.ts';

/**
 * All endpoints that a token of each widget can call, besides showing the widget. A widget cannot call any other
 * endpoint.
 */
const OF_WIDGETS = {
  profile: [
    changeName,
    putAvatar,
    deleteAvatar,
    getPreferences,
    changePreferences,
    listOwnMethods,
    listSessions,
    revokeSession,
    removeMember,
  ],
  enterprise: [
    listMembers,
    changeRole,
    deactivateMember,
    reactivateMember,
    removeMember,
    inviteMember,
    listInvitations,
    resendInvitation,
    revokeInvitation,
    listPlans,
    getBilling,
    previewBilling,
    startCheckout,
    listAuditEvents,
    getWidgetOrigins,
    changeWidgetOrigins,
  ],
  developers: [
    listWorkspaceKeys,
    createWorkspaceKey,
    revokeWorkspaceKey,
    listRequests,
    getWidgetOrigins,
    changeWidgetOrigins,
  ],
} as const;

export const WIDGET_ENDPOINTS: readonly Endpoint[] = (['profile', 'enterprise', 'developers'] as const).flatMap(
  (widget) => OF_WIDGETS[widget].map((endpoint) => underWidget(widget, endpoint)),
);
