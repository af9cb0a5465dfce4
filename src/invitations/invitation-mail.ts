import { escapeHtml } from '../core/escape-html.ts';
import type { Message } from '../providers/mail/mail.ts';

export interface InvitationLetter {
  email: string;
  role: string;
  workspace_name: string;
  inviter_name: string;
  expires_at: string;
  secret: string;
}

/** The message with the link, whose host is PUBLIC_URL's alone. */
export function invitationMail(publicUrl: string, letter: InvitationLetter): Message {
  const link = `${publicUrl}/invitations/accept?token=${letter.secret}`;
  const workspace = oneLine(letter.workspace_name);
  const inviter = oneLine(letter.inviter_name);
  const until = letter.expires_at.slice(0, 10);
  const intro = `${inviter} invites you to join "${workspace}" as ${letter.role}.`;
  return {
    to: letter.email,
    subject: `Invitation to ${workspace}`,
    text: `${intro}\n\nAccept the invitation until ${until}:\n${link}\n\nIf you do not know what this is about, ignore this message.\n`,
    html: `<p>${escapeHtml(intro)}</p>
<p><a href="${escapeHtml(link)}">Accept the invitation</a> (until ${until})</p>
<p>If you do not know what this is about, ignore this message.</p>
`,
  };
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 100);
}
