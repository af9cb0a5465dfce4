import type { Invitation } from '../../../src/organization/invitations/schema.ts';
import type { Member, MembersList } from '../../../src/organization/members/schema.ts';
import type { Seats } from '../../../src/organization/workspaces/seats.ts';
import { type Content, type Html, html } from '../../html.ts';
import { time } from '../../layout.ts';
import { partLinks, readBodyOfPart } from '../../paging.ts';
import { face } from '../../people/face.ts';
import { renderSettings, settingsPage } from '../../settings.ts';
import type { SettingsContext } from '../../settings-context.ts';
import { actionButton, disclosure, hiddenFields } from '../../settings-forms.ts';
import type { Visit, WebResponse } from '../../visit.ts';

/** Members per page. Each row has its own forms. */
const PART_SIZE = 100;

/** The members of one page, and whether these are all. */
type ShownMembers = MembersList & { isWhole: boolean };

const field = ({ form }: Visit, name: string) => form.get(name) ?? '';
const memberPath = (visit: Visit, context: SettingsContext) =>
  `${context.api}/members/${encodeURIComponent(field(visit, 'membership_id'))}`;
const invitationPath = (visit: Visit, context: SettingsContext) =>
  `${context.api}/invitations/${encodeURIComponent(field(visit, 'invitation_id'))}`;

export const [members, changeMembers] = settingsPage({
  path: '/:workspace/-/members',
  title: 'Members',
  flashMessages: {
    resent: 'A new link is on its way by e-mail. The previous link no longer works.',
    unsent:
      'The invitation is valid for another seven days. No mail server is set up, so create a link and send it yourself.',
    revoked: 'Invitation revoked. Its link no longer works.',
    changed: 'Role changed. It applies from their next request.',
    deactivated: 'Member deactivated. They have no access until you reactivate them.',
    reactivated: 'Member reactivated.',
    removed: 'Member removed. Everything they wrote stays.',
    transferred: 'Ownership transferred. You are now an admin.',
  },
  actions: {
    async invite(visit, context) {
      const made = await visit.api.post<Invitation>(`${context.api}/members/invite`, {
        email: field(visit, 'email'),
        role: field(visit, 'role'),
      });
      const sent = visit.hasMail
        ? html`The invitation is on its way to <strong>${made.email}</strong>.`
        : html`No mail server is set up, so nothing was sent to <strong>${made.email}</strong>. Send this link yourself.`;
      return linkPage(visit, context, made.invitation_id, sent);
    },
    link: (visit, context) => linkPage(visit, context, field(visit, 'invitation_id'), false),
    async resend(visit, context) {
      await visit.api.post(`${invitationPath(visit, context)}/resend`);
      return visit.hasMail ? 'resent' : 'unsent';
    },
    async revoke(visit, context) {
      await visit.api.post(`${invitationPath(visit, context)}/revoke`);
      return 'revoked';
    },
    async role(visit, context) {
      await visit.api.patch(memberPath(visit, context), { role: field(visit, 'role') });
      return 'changed';
    },
    async deactivate(visit, context) {
      await visit.api.post(`${memberPath(visit, context)}/deactivate`);
      return 'deactivated';
    },
    async reactivate(visit, context) {
      await visit.api.post(`${memberPath(visit, context)}/reactivate`);
      return 'reactivated';
    },
    async remove(visit, context) {
      await visit.api.delete(memberPath(visit, context));
      return 'removed';
    },
    async leave(visit, context) {
      await visit.api.delete(memberPath(visit, context));
      return { redirect: '/' };
    },
    async transfer(visit, context) {
      await visit.api.post(`${context.api}/transfer`, { membership_id: field(visit, 'membership_id') });
      return 'transferred';
    },
  },
  async main(visit, context) {
    const path = `${context.api}/members?limit=${PART_SIZE}`;
    const { body, ...parts } = await readBodyOfPart<MembersList>(visit, path);
    const list = { ...body, isWhole: parts.isFirst && parts.next === '' };
    const { can_manage_members } = list.viewer;
    return html`
      <p class="lead">${seatsText(list.seats)}</p>
      ${can_manage_members && inviteForm(visit, list)}
      ${can_manage_members && invitationList(list)}
      <h2>People</h2>
      <ul class="people">${list.members.map((it) => memberEntry(it, list, context))}</ul>
      ${partLinks(parts, { first: 'First members', next: 'More members' })}
      ${list.isWhole && list.members.length === 1 && html`<p class="empty">You are the only member. ${can_manage_members ? 'Invite people above.' : ''}</p>`}
      ${roleList(list)}
      ${context.can('workspace:transfer') && transferForm(list, context)}`;
  },
});

/**
 * Creates an invitation link. The API returns the link only once, so this replies with a page instead of a redirect.
 */
async function linkPage(
  visit: Visit,
  context: SettingsContext,
  invitation_id: string,
  sent: Content,
): Promise<WebResponse> {
  const path = `${context.api}/invitations/${encodeURIComponent(invitation_id)}/link`;
  const { link, expires_at } = await visit.api.post<{ link: string; expires_at: string }>(path);
  return {
    page: renderSettings(
      visit,
      context,
      'Invitation link',
      html`${sent && html`<p class="lead">${sent}</p>`}
        <p>The link is shown only once. It is valid until ${time(expires_at)} and only for the person who signs in with the invited address.</p>
        <p class="secret"><code id="secret" tabindex="0">${link}</code><button class="button main" type="button" data-copy="secret" hidden>Copy</button></p>
        <p class="small" role="status" id="copied"></p>
        <p><a class="button" href="${visit.path}">Back to members</a></p>`,
    ),
  };
}

function seatsText({ active, pending, granted, unlimited, blocked }: Seats): string {
  const people = active === 1 ? '1 person' : `${active} people`;
  const invited = pending === 0 ? '' : `, ${pending} invited`;
  if (unlimited) return `${people}${invited}. Seats are not limited.`;
  const seats = `${granted} ${granted === 1 ? 'seat' : 'seats'}`;
  return `${people}${invited}, of ${seats}.${blocked ? ' All seats are taken. Remove a member or choose a larger plan.' : ''}`;
}

/** Returns the roles that the user can assign: none above their own. */
function grantableRoles({ roles, viewer }: MembersList): MembersList['roles'] {
  return roles.filter(({ slug }) => viewer.role === 'owner' || slug !== 'owner');
}

function roleOptions(list: MembersList, chosen: string): Html {
  return html`${grantableRoles(list).map(({ slug, name }) => html`<option value="${slug}"${slug === chosen && html` selected`}>${name}</option>`)}`;
}

function inviteForm(visit: Visit, list: MembersList): Content {
  if (list.seats.blocked) return false;
  return html`<form method="post" class="fields" aria-label="Invite a member">${hiddenFields({ do: 'invite' })}
    <label class="grow">E-mail <input name="email" type="email" required maxlength="254" autocomplete="off" value="${field(visit, 'email')}"></label>
    <label>Role <select name="role">${roleOptions(list, field(visit, 'role') || 'member')}</select></label>
    <button class="button main">Invite</button></form>`;
}

function invitationList(list: MembersList): Html {
  const nameOf = new Map(list.roles.map(({ slug, name }) => [slug, name]));
  return html`<h2>Invited</h2>
    ${list.invitations.length === 0 && html`<p class="empty">No pending invitations.</p>`}
    <ul class="people">${list.invitations.map(
      ({ invitation_id, email, role, expires_at }) => html`<li>
      <div class="who"><strong>${email}</strong><span class="small">${nameOf.get(role) ?? role} · expires ${time(expires_at)}</span></div>
      <div class="row-of-buttons">${actionButton('link', { invitation_id }, html`Create link<span class="sr-only"> for ${email}</span>`)}${actionButton('resend', { invitation_id }, html`Resend<span class="sr-only"> to ${email}</span>`)}
      ${actionButton('revoke', { invitation_id }, html`Revoke<span class="sr-only"> the invitation for ${email}</span>`, 'quiet')}</div></li>`,
    )}</ul>`;
}

function memberEntry(it: Member, list: ShownMembers, context: SettingsContext): Html {
  const { membership_id, user_id, display_name, email, role, status } = it;
  const isSelf = user_id === context.user.user_id;
  const canChange = list.viewer.can_manage_members && (list.viewer.role === 'owner' || role !== 'owner');
  const owners = list.members.filter((other) => other.role === 'owner' && other.status === 'active');
  // If not all members are listed, the API refuses to remove the last owner.
  const isLastOwner = list.isWhole && owners.length === 1 && owners[0]?.membership_id === membership_id;
  const name = display_name || email;
  const roleName = list.roles.find(({ slug }) => slug === role)?.name ?? role;
  return html`<li>${face(it)}
    <div class="who"><strong>${name}</strong>${isSelf && html` <span class="tag">you</span>`}${status === 'inactive' && html` <span class="tag">inactive</span>`}
      <span class="small">${email}${!(canChange && !isLastOwner) && html` · ${roleName}`}${isLastOwner && html`, the only one`}</span></div>
    ${
      canChange &&
      !isLastOwner &&
      html`<form method="post" class="role">${hiddenFields({ do: 'role', membership_id })}
      <select name="role" aria-label="Role of ${name}">${roleOptions(list, role)}</select><button class="button">Change<span class="sr-only"> the role of ${name}</span></button></form>`
    }
    ${!isLastOwner && (canChange || isSelf) && memberActions(it, name, isSelf, canChange, context)}</li>`;
}

function memberActions(
  { membership_id, status }: Member,
  name: string,
  isSelf: boolean,
  mayChange: boolean,
  context: SettingsContext,
): Html {
  const about = html`<span class="sr-only"> actions for ${name}</span>`;
  if (isSelf) {
    return disclosure(
      'Leave',
      `You lose access to ${context.workspace.name} until you are invited again. Everything you wrote stays.`,
      actionButton('leave', { membership_id }, `Leave ${context.workspace.name}`, 'bad'),
    );
  }
  const toggle =
    status === 'active'
      ? actionButton('deactivate', { membership_id }, html`Deactivate<span class="sr-only"> ${name}</span>`)
      : actionButton('reactivate', { membership_id }, html`Reactivate<span class="sr-only"> ${name}</span>`);
  return disclosure(
    html`More${about}`,
    'A deactivated member has no access and takes no seat until you reactivate them. A removed member must be invited again. Everything they wrote stays.',
    html`<div class="row-of-buttons">${mayChange && toggle}${actionButton('remove', { membership_id }, html`Remove<span class="sr-only"> ${name}</span>`, 'bad')}</div>`,
  );
}

function roleList({ roles }: MembersList): Html {
  return html`<h2>Roles</h2><dl class="roles">${roles.map(({ name, description }) => html`<dt>${name}</dt><dd>${description}</dd>`)}</dl>`;
}

function transferForm({ members, isWhole }: ShownMembers, { user, workspace }: SettingsContext): Html {
  const candidates = members.filter(({ user_id, status }) => user_id !== user.user_id && status === 'active');
  return html`<h2>Ownership</h2>
    ${
      candidates.length === 0
        ? html`<p class="empty">There is no other active member${isWhole ? '. Invite one first.' : ' on this page of the list.'}</p>`
        : disclosure(
            `Transfer ${workspace.name}`,
            `The member you choose becomes an owner and you become an admin at once. Only they can reverse this.${isWhole ? '' : ' You can choose from the members on this page of the list.'}`,
            html`<form method="post" class="fields">${hiddenFields({ do: 'transfer' })}
            <label class="grow">New owner <select name="membership_id" required>${candidates.map((it) => html`<option value="${it.membership_id}">${it.display_name || it.email} (${it.email})</option>`)}</select></label>
            <button class="button bad">Transfer ownership</button></form>`,
          )
    }`;
}
