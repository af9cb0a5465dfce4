import { type ErrorCode, STATUS_OF } from '../../core/errors.ts';

interface Explanation {
  meaning: string;
  /** How a client should react. */
  remedy: string;
}

const RETRY = 'Wait the number of seconds in Retry-After, then send the request again.';
const LOOK_AGAIN = 'Read the resource again, and decide based on its current state.';

/** The meaning and remedy of every error code that a client can get. Its type requires an entry for each code. */
const EXPLANATIONS: Record<ErrorCode, Explanation> = {
  invalid_request: {
    meaning: 'The body cannot be decoded, or a value breaks a rule that the schema does not express.',
    remedy: 'Correct the request as the message says. Sending it unchanged fails again.',
  },
  invalid_identifier: {
    meaning: 'An identifier in the path is malformed.',
    remedy: 'Use identifiers from responses of the API, and percent-encode them in the path.',
  },
  invalid_slug: {
    meaning: 'The slug is malformed.',
    remedy: 'Send lower-case letters, digits and single hyphens, or omit the slug to derive it from the title.',
  },
  invalid_name: {
    meaning: 'The name is empty or too long.',
    remedy: 'Send a name of the length that the message states.',
  },
  invalid_title: {
    meaning: 'The title is empty or too long.',
    remedy: 'Send a title of the length that the message states.',
  },
  invalid_email: {
    meaning: 'The text is not a single e-mail address.',
    remedy: 'Send one address, without a display name.',
  },
  invalid_query: {
    meaning: 'The query string cannot be decoded, or its cursor belongs to another list.',
    remedy: 'Percent-encode the query string, and follow the Link header instead of building a cursor.',
  },
  unknown_role: {
    meaning: 'No role has this slug.',
    remedy: 'Use a slug from `roles` in the members list.',
  },
  unknown_plan: { meaning: 'No plan has this ID.', remedy: 'Use a plan_id from the list of plans.' },
  user_required: {
    meaning: 'The request needs a user, but the credential is a key of a workspace.',
    remedy: 'Use a personal key or a session.',
  },
  invalid_signature: {
    meaning: 'The signature of an event from the payment provider is wrong or too old.',
    remedy: 'Set STRIPE_WEBHOOK_SECRETS to the signing secret of the webhook endpoint.',
  },
  foreign_event: {
    meaning: 'The event belongs to another account, mode or version than the service is configured for.',
    remedy: 'Send snapshot events of the account whose secret key is configured.',
  },
  unauthorized: {
    meaning: 'The credential is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send `Authorization: Bearer <API key or access token>` with a valid credential.',
  },
  payment_required: {
    meaning: 'The workspace is read-only because an invoice was not paid.',
    remedy: 'Pay the invoice. Until then, reading, paying and removing access still work.',
  },
  payment_declined: { meaning: 'The payment was declined.', remedy: 'Change the payment method, and try again.' },
  forbidden: {
    meaning: "The caller's role, or the permissions of the credential, do not allow this.",
    remedy: 'Use a credential with the permission that the operation requires, or ask an owner for another role.',
  },
  role_not_grantable: {
    meaning: "The role is higher than the caller's own.",
    remedy: 'Ask a member with that role or a higher one.',
  },
  key_is_workspace_bound: {
    meaning: 'The key belongs to one workspace and cannot create another.',
    remedy: 'Use a personal key or a session.',
  },
  recent_sign_in_required: {
    meaning: 'The session is too old for an action that cannot be undone.',
    remedy: 'Sign in again, and repeat the request.',
  },
  not_found: {
    meaning: 'The resource does not exist, or the caller may not see it.',
    remedy: 'Check the identifiers, and whether the credential belongs to the workspace.',
  },
  method_not_allowed: {
    meaning: 'The path does not support this method.',
    remedy: 'Use a method listed in the Allow header.',
  },
  request_timeout: {
    meaning: 'The request did not arrive in time, or the client closed the connection.',
    remedy: 'Send the request again. A write that is sent twice with one Idempotency-Key happens once.',
  },
  conflict: { meaning: 'The write conflicts with the current state.', remedy: LOOK_AGAIN },
  slug_taken: { meaning: 'The slug is taken or reserved.', remedy: 'Choose another slug, or omit it.' },
  already_member: { meaning: 'The address belongs to an active member.', remedy: 'No action is needed.' },
  invitation_pending: {
    meaning: 'The address has a pending invitation.',
    remedy: 'Resend that invitation, or revoke it first.',
  },
  member_inactive: { meaning: 'The address belongs to a deactivated member.', remedy: 'Reactivate the member.' },
  last_owner: {
    meaning: 'The workspace would have no active owner.',
    remedy: 'Make another member an owner first.',
  },
  seat_limit_reached: {
    meaning: 'All seats of the workspace are taken.',
    remedy: 'Add seats, or remove a member or an invitation.',
  },
  edit_conflict: {
    meaning: 'The page has changed since the revision that the edit is based on.',
    remedy: 'Read the page, merge the changes, and send the edit with the new revision.',
  },
  idempotency_in_progress: {
    meaning: 'A request with the same Idempotency-Key is still running.',
    remedy: 'Wait a moment, then send the request again with the same key.',
  },
  upload_state: {
    meaning: 'The upload is in a state that does not allow this.',
    remedy: 'Read the upload: its `status` shows the next step.',
  },
  quota_exceeded: {
    meaning: 'The request would take the workspace over a limit.',
    remedy:
      'Delete data, or ask the operator to raise the limit. The usage of the workspace lists its limits and their use.',
  },
  legal_hold: {
    meaning: 'The workspace is under a legal hold, so nothing can be permanently deleted.',
    remedy: 'Ask an owner to lift the hold first.',
  },
  workspace_not_empty: {
    meaning: 'The account is the only member of a workspace that still has wikis.',
    remedy: 'Export and delete these wikis, or make another person an owner of the workspace.',
  },
  preview_changed: {
    meaning: 'The price of the plan change differs from its preview.',
    remedy: 'Preview the change again, and confirm the new amount.',
  },
  already_subscribed: {
    meaning: 'The workspace already has a subscription.',
    remedy: 'Change the plan of the subscription instead.',
  },
  not_subscribed: {
    meaning: 'The workspace has no subscription that is paid online.',
    remedy: 'Start a checkout first.',
  },
  billing_by_operator: {
    meaning: 'The operator sets the plan of this workspace.',
    remedy: 'Ask the operator to change the plan.',
  },
  customer_missing: {
    meaning: 'The customer of this workspace no longer exists at the payment provider.',
    remedy: 'Ask the operator to restore the customer or set the plan.',
  },
  currency_mismatch: {
    meaning: 'The plan and the subscription are priced in different currencies.',
    remedy: 'Cancel the subscription. When it has ended, start a checkout for the other plan.',
  },
  quantity_too_large: {
    meaning: 'One payment cannot cover this many seats.',
    remedy: 'Ask the operator for a contract.',
  },
  precondition_failed: {
    meaning: 'The request uses an unsupported version of the tus protocol.',
    remedy: 'Send `Tus-Resumable: 1.0.0`.',
  },
  payload_too_large: {
    meaning: 'The body, a file or a text is larger than the limit.',
    remedy: 'Send less at once: fewer or smaller files, or a shorter text.',
  },
  uri_too_long: { meaning: 'A segment of the path is too long.', remedy: 'Shorten the segment.' },
  unsupported_media_type: {
    meaning: 'The operation does not accept the media type of the body.',
    remedy: 'Send the Content-Type that the message names.',
  },
  range_not_satisfiable: {
    meaning: 'The range lies outside the file.',
    remedy: 'Request a range within the file. Content-Range gives its length.',
  },
  expectation_failed: {
    meaning: 'The Expect header has an unsupported value.',
    remedy: 'Send `Expect: 100-continue`, or omit the header.',
  },
  validation_error: {
    meaning: 'The path, query or body does not match its schema.',
    remedy: 'Correct each field listed in `detail`. Its `loc` is the path to the field.',
  },
  rate_limited: { meaning: 'Too many requests were sent.', remedy: RETRY },
  headers_too_large: {
    meaning: 'The headers are too large.',
    remedy: 'Send fewer or shorter headers, such as cookies.',
  },
  checksum_mismatch: {
    meaning: 'The bytes do not match their checksum, and were discarded.',
    remedy: 'Send the bytes again.',
  },
  internal_error: {
    meaning: 'The service failed unexpectedly.',
    remedy: 'Report the failure with its `request_id`. A write with an Idempotency-Key can be sent again.',
  },
  billing_unavailable: { meaning: 'The payment provider is not responding.', remedy: RETRY },
  plan_unpriced: {
    meaning: 'The payment provider has no price for this plan.',
    remedy: 'Ask the operator to add a price for the plan.',
  },
  email_unavailable: {
    meaning: 'The mail server is not responding, or none is configured.',
    remedy: `${RETRY} If the error persists, ask the operator.`,
  },
  storage_unavailable: { meaning: 'The file store is not responding, or is full.', remedy: RETRY },
  identity_unavailable: { meaning: 'The identity provider is not responding.', remedy: RETRY },
  database_unavailable: { meaning: 'The database is not responding.', remedy: RETRY },
  overloaded: { meaning: 'The service is overloaded.', remedy: RETRY },
  time_limit_exceeded: {
    meaning: 'The request took longer than the service allows.',
    remedy: 'Request less at once, or try again later.',
  },
};

/** Who can remove the cause of an error. */
type Fixer = 'the client' | 'the user' | 'an owner or admin' | 'the operator';

/** Errors that the client alone cannot fix. */
const FIXED_BY: Partial<Record<ErrorCode, Fixer>> = {
  invalid_signature: 'the operator',
  foreign_event: 'the operator',
  payment_required: 'an owner or admin',
  payment_declined: 'the user',
  forbidden: 'an owner or admin',
  role_not_grantable: 'an owner or admin',
  recent_sign_in_required: 'the user',
  member_inactive: 'an owner or admin',
  last_owner: 'an owner or admin',
  seat_limit_reached: 'an owner or admin',
  edit_conflict: 'the user',
  quota_exceeded: 'an owner or admin',
  legal_hold: 'an owner or admin',
  workspace_not_empty: 'the user',
  preview_changed: 'the user',
  billing_by_operator: 'the operator',
  customer_missing: 'the operator',
  internal_error: 'the operator',
  billing_unavailable: 'the operator',
  plan_unpriced: 'the operator',
  email_unavailable: 'the operator',
  storage_unavailable: 'the operator',
  identity_unavailable: 'the operator',
  database_unavailable: 'the operator',
};

export function meaningOf(code: ErrorCode): string {
  return EXPLANATIONS[code].meaning;
}

/** An entry in the list of error codes. */
export interface ExplainedError extends Explanation {
  code: ErrorCode;
  status: number;
  fixedBy: Fixer;
}

/** All error codes, ordered by status. */
export const EXPLAINED_ERRORS: readonly ExplainedError[] = (Object.keys(STATUS_OF) as ErrorCode[])
  .map((code) => ({ code, status: STATUS_OF[code], fixedBy: FIXED_BY[code] ?? 'the client', ...EXPLANATIONS[code] }))
  .sort((a, b) => a.status - b.status);

/** Path of the page that explains error codes. */
export const ERRORS_PATH = '/docs/errors';

/** Returns Markdown links to the explanations of these codes. */
export function linksTo(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `[\`${code}\`](${ERRORS_PATH}#${code})`).join(', ');
}

/**
 * Returns the content of docs/errors.md, for readers of the repository. `exampleOf` names an operation that can respond
 * with a code.
 */
export function errorsDocument(exampleOf: (code: ErrorCode) => string): string {
  const rows = EXPLAINED_ERRORS.map(({ code, status, meaning, remedy, fixedBy }) => {
    const cells = [`<a id="${code}"></a>\`${code}\``, status, meaning, remedy, fixedBy, exampleOf(code)];
    return `| ${cells.join(' | ')} |\n`;
  });
  return `# Errors

Every error response has the same body: \`error\` is a code for programs, \`message\` is a sentence for developers, and
\`request_id\` identifies the request in a report. A 422 also has \`detail\`, a list of the fields that do not match.
Programs should decide by status and code. Codes are added, never removed or renamed. Handle an unknown code by its status.

\`npm run accept\` writes this table from \`src/platform/http/openapi/error-codes.ts\`. A running service shows it at \`${ERRORS_PATH}\`.

For example, an edit of a page that has changed in the meantime:

\`\`\`json
{ "error": "edit_conflict", "message": "The page is at revision 3, but your text is based on revision 2. …", "request_id": "req_01jd8w3v6xf3" }
\`\`\`

| code | status | meaning | remedy | fixed by | example |
|---|---|---|---|---|---|
${rows.join('')}`;
}
