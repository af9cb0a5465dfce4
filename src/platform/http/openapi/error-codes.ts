import { type ErrorCode, STATUS_OF } from '../../core/errors.ts';

interface Explanation {
  meaning: string;
  /** How a client should react. */
  remedy: string;
}

const RETRY = 'Wait as many seconds as Retry-After says, and send the request again.';
const LOOK_AGAIN = 'Read the resource again, and decide by its present state.';

/** The meaning and remedy of every error code that a client can get. Its type requires an entry for each code. */
const EXPLANATIONS: Record<ErrorCode, Explanation> = {
  invalid_request: {
    meaning: 'The body cannot be decoded, or a value breaks a rule that the schema does not show.',
    remedy: 'Correct what the message names. The same request fails again.',
  },
  invalid_identifier: {
    meaning: 'An identifier in the path cannot be one.',
    remedy: 'Take identifiers from answers of the API, and encode them in the path.',
  },
  invalid_slug: {
    meaning: 'The slug is malformed.',
    remedy:
      'Send lower-case letters, digits and single hyphens, or leave the slug out: it is then made from the title.',
  },
  invalid_name: { meaning: 'The name is empty or too long.', remedy: 'Send a name as long as the message says.' },
  invalid_title: { meaning: 'The title is empty or too long.', remedy: 'Send a title as long as the message says.' },
  invalid_email: { meaning: 'The text is not one e-mail address.', remedy: 'Send a single address without a name.' },
  invalid_query: {
    meaning: 'The query of the URL cannot be decoded, or its cursor belongs to another list.',
    remedy: 'Encode the query, and follow the Link header instead of building a cursor.',
  },
  unknown_role: {
    meaning: 'There is no role with this slug.',
    remedy: 'Take a slug from `roles` of the members list.',
  },
  unknown_plan: { meaning: 'The catalogue has no such plan.', remedy: 'Take a plan_id from the list of plans.' },
  user_required: {
    meaning: 'The credential is a key of a workspace, and the request is about a person.',
    remedy: 'Use a personal key or a session.',
  },
  invalid_signature: {
    meaning: 'The signature of an event of the payment provider is wrong or too old.',
    remedy: 'Configure the signing secret of the webhook endpoint in STRIPE_WEBHOOK_SECRETS.',
  },
  foreign_event: {
    meaning: 'The event is of another account, mode or version than the service is configured for.',
    remedy: 'Send snapshot events of the account whose secret key the service has.',
  },
  unauthorized: {
    meaning: 'The credential is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send `Authorization: Bearer <API key or access token>` with a credential that is valid.',
  },
  payment_required: {
    meaning: 'The workspace is read-only because an invoice was not paid.',
    remedy: 'Pay the invoice. Reading, paying and removing access work meanwhile.',
  },
  payment_declined: { meaning: 'The payment was declined.', remedy: 'Change the payment method, and try again.' },
  forbidden: {
    meaning: "The caller's role, or the permissions of the credential, do not allow this.",
    remedy: 'Use a credential with the permission that the operation names, or ask an owner for another role.',
  },
  role_not_grantable: {
    meaning: "The role is above the caller's own.",
    remedy: 'Ask a member with that role or a higher one.',
  },
  key_is_workspace_bound: {
    meaning: 'The key belongs to one workspace and cannot create another.',
    remedy: 'Use a personal key or a session.',
  },
  recent_sign_in_required: {
    meaning: 'The session is too old for an act that cannot be undone.',
    remedy: 'Sign in again, and repeat the request.',
  },
  not_found: {
    meaning: 'The path names nothing, or nothing that the caller may see.',
    remedy: 'Check the identifiers, and whether the credential belongs to the workspace.',
  },
  method_not_allowed: { meaning: 'The path has no such method.', remedy: 'Use a method that the Allow header lists.' },
  request_timeout: {
    meaning: 'The request did not arrive in time, or the client closed the connection.',
    remedy: 'Send it again. A write with the same Idempotency-Key happens once.',
  },
  conflict: { meaning: 'The write conflicts with the present state.', remedy: LOOK_AGAIN },
  slug_taken: { meaning: 'The slug is taken or reserved.', remedy: 'Choose another slug, or leave it out.' },
  already_member: { meaning: 'The address belongs to an active member.', remedy: 'There is nothing left to do.' },
  invitation_pending: {
    meaning: 'The address has a pending invitation.',
    remedy: 'Resend that invitation, or revoke it first.',
  },
  member_inactive: { meaning: 'The address belongs to a deactivated member.', remedy: 'Reactivate the member.' },
  last_owner: {
    meaning: 'The workspace would be left without an active owner.',
    remedy: 'Make another member an owner first.',
  },
  seat_limit_reached: {
    meaning: 'All seats of the workspace are taken.',
    remedy: 'Add seats, or remove a member or an invitation.',
  },
  edit_conflict: {
    meaning: 'The page was changed after the revision that the edit is based on.',
    remedy: 'Read the page, merge the changes, and send the edit with the new revision.',
  },
  idempotency_in_progress: {
    meaning: 'A request with the same Idempotency-Key is still running.',
    remedy: 'Wait a moment, and send it again with the same key.',
  },
  upload_state: {
    meaning: 'The upload is in a state in which this is not possible.',
    remedy: 'Read the upload: its `status` says what comes next.',
  },
  quota_exceeded: {
    meaning: 'The workspace would exceed a limit.',
    remedy: 'Delete what is not needed, or ask the operator to raise the limit. The usage of the workspace lists both.',
  },
  legal_hold: {
    meaning: 'The workspace is under a legal hold, and nothing is deleted for good.',
    remedy: 'An owner lifts the hold first.',
  },
  workspace_not_empty: {
    meaning: 'The account is the only member of a workspace that still has wikis.',
    remedy: 'Export and delete these wikis, or make somebody else an owner.',
  },
  preview_changed: {
    meaning: 'The change of the plan costs something else than its preview said.',
    remedy: 'Preview the change again, and confirm the new amount.',
  },
  already_subscribed: { meaning: 'The workspace has a subscription.', remedy: 'Change its plan instead.' },
  not_subscribed: {
    meaning: 'The workspace has no subscription that is paid online.',
    remedy: 'Start a checkout first.',
  },
  billing_by_operator: { meaning: 'The operator sets the plan of this workspace.', remedy: 'Ask the operator.' },
  customer_missing: {
    meaning: 'The payment provider does not know the customer of this workspace any more.',
    remedy: 'Ask the operator, who can restore the customer or set the plan.',
  },
  currency_mismatch: {
    meaning: 'The plan is priced in another currency than the subscription.',
    remedy: 'Cancel the subscription, and start a checkout for the other plan after it ended.',
  },
  quantity_too_large: {
    meaning: 'So many seats are more than one payment can be.',
    remedy: 'Ask the operator for a contract.',
  },
  precondition_failed: {
    meaning: 'The request uses another version of tus.',
    remedy: 'Send `Tus-Resumable: 1.0.0`.',
  },
  payload_too_large: {
    meaning: 'The body, a file or a text is larger than the limit.',
    remedy: 'Send less at once: fewer or smaller files, a shorter text.',
  },
  uri_too_long: { meaning: 'A part of the path is too long.', remedy: 'Shorten it.' },
  unsupported_media_type: {
    meaning: 'The body has another media type than the operation takes.',
    remedy: 'Send the Content-Type that the message names.',
  },
  range_not_satisfiable: {
    meaning: 'The range lies outside the file.',
    remedy: 'Ask for a part that is in it: Content-Range says how long the file is.',
  },
  expectation_failed: {
    meaning: 'The Expect header asks for something unknown.',
    remedy: 'Send `Expect: 100-continue`, or no such header.',
  },
  validation_error: {
    meaning: 'The path, query or body does not match its schema.',
    remedy: 'Correct each field that `detail` names in `loc`.',
  },
  rate_limited: { meaning: 'There were too many requests.', remedy: RETRY },
  headers_too_large: {
    meaning: 'The headers are too large.',
    remedy: 'Send fewer or shorter headers, such as cookies.',
  },
  checksum_mismatch: {
    meaning: 'The bytes do not match their checksum, and none of them was kept.',
    remedy: 'Send the bytes again.',
  },
  internal_error: {
    meaning: 'The service failed.',
    remedy: 'Report it with `request_id`. A write with an Idempotency-Key can be sent again.',
  },
  billing_unavailable: { meaning: 'The payment provider does not answer.', remedy: RETRY },
  plan_unpriced: {
    meaning: 'The payment provider has no price for this plan.',
    remedy: 'Ask the operator, who gives the plan a price.',
  },
  email_unavailable: {
    meaning: 'The mail server does not answer, or none is configured.',
    remedy: `${RETRY} If it stays, ask the operator.`,
  },
  storage_unavailable: { meaning: 'The store of files does not answer, or is full.', remedy: RETRY },
  identity_unavailable: { meaning: 'The identity provider does not answer.', remedy: RETRY },
  database_unavailable: { meaning: 'The database does not answer.', remedy: RETRY },
  overloaded: { meaning: 'The service has more to do than it can.', remedy: RETRY },
  time_limit_exceeded: {
    meaning: 'The request took longer than the service allows.',
    remedy: 'Ask for less at once, or try again later.',
  },
};

export function meaningOf(code: ErrorCode): string {
  return EXPLANATIONS[code].meaning;
}

/** An entry in the list of error codes. */
export interface ExplainedError extends Explanation {
  code: ErrorCode;
  status: number;
}

/** All error codes, ordered by status. */
export const EXPLAINED_ERRORS: readonly ExplainedError[] = (Object.keys(STATUS_OF) as ErrorCode[])
  .map((code) => ({ code, status: STATUS_OF[code], ...EXPLANATIONS[code] }))
  .sort((a, b) => a.status - b.status);

/** Path of the page that explains error codes. */
export const ERRORS_PATH = '/docs/errors';

/** Returns Markdown links to the explanations of these codes. */
export function linksTo(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `[\`${code}\`](${ERRORS_PATH}#${code})`).join(', ');
}

/** Returns the content of docs/errors.md, for readers of the repository. */
export function errorsDocument(): string {
  const rows = EXPLAINED_ERRORS.map(
    ({ code, status, meaning, remedy }) => `| <a id="${code}"></a>\`${code}\` | ${status} | ${meaning} | ${remedy} |\n`,
  );
  return `# Errors

Every refusal has one body: \`error\` is a code for programs, \`message\` a sentence for developers, \`request_id\` what to quote in
a report. A 422 has \`detail\` as well: a list of the fields that do not match. Programs decide by the status and the code.
Codes are added, never removed or renamed; treat an unknown code as its status says.

\`npm run accept\` writes this table from \`src/platform/http/openapi/error-codes.ts\`. A running service shows it at \`${ERRORS_PATH}\`.

| code | status | what it means | what to do |
|---|---|---|---|
${rows.join('')}`;
}
