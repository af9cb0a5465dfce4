import { backup } from './operation/backup/feature.ts';
import { account } from './organization/account/feature.ts';
import { audit } from './organization/audit/feature.ts';
import { billing } from './organization/billing/feature.ts';
import { invitations } from './organization/invitations/feature.ts';
import { keys } from './organization/keys/feature.ts';
import { members } from './organization/members/feature.ts';
import { retention } from './organization/retention/feature.ts';
import { session } from './organization/session/feature.ts';
import { usage } from './organization/usage/feature.ts';
import { WIDGET_ENDPOINTS } from './organization/widget-endpoints.ts';
import { widgets } from './organization/widgets/feature.ts';
import { workspaces } from './organization/workspaces/feature.ts';
import { blobs } from './platform/blobs/feature.ts';
import type { Feature } from './platform/feature.ts';
import type { Endpoint } from './platform/http/endpoint.ts';
import { requestTables } from './platform/http/tables.ts';
import type { AnyJob } from './platform/jobs/define-job.ts';
import { jobs } from './platform/jobs/feature.ts';
import { auditTargets, personLists, type Table } from './platform/tables/define-table.ts';
import { ingest } from './sources/ingest/feature.ts';
import { sources } from './sources/records/feature.ts';
import { transfer } from './sources/transfer/feature.ts';
import { uploads } from './sources/uploads/feature.ts';
import { verification } from './sources/verification/feature.ts';
import { attachments } from './wiki/attachments/feature.ts';
import { autosaves } from './wiki/autosaves/feature.ts';
import { pages } from './wiki/pages/feature.ts';
import { restrictions } from './wiki/restrictions/feature.ts';
import { revisions } from './wiki/revisions/feature.ts';
import { search } from './wiki/search/feature.ts';
import { stars } from './wiki/stars/feature.ts';
import { templates } from './wiki/templates/feature.ts';
import { wikis } from './wiki/wikis/feature.ts';

/** In the order of the API reference. */
const FEATURES: readonly Feature[] = [
  session,
  account,
  // The organization.
  workspaces,
  members,
  invitations,
  keys,
  audit,
  retention,
  widgets,
  billing,
  usage,
  // Wikis and their content.
  wikis,
  transfer,
  uploads,
  jobs,
  ingest,
  sources,
  verification,
  pages,
  revisions,
  attachments,
  autosaves,
  templates,
  restrictions,
  stars,
  search,
  blobs,
  backup,
];

/** All endpoints of the API. An endpoint missing from this list is not served. */
export const ENDPOINTS: readonly Endpoint[] = FEATURES.flatMap((feature) => [
  ...(feature.endpoints ?? []),
  ...(feature === widgets ? WIDGET_ENDPOINTS : []),
]);

/** All background jobs. A job missing from this list never runs. */
export const JOBS: readonly AnyJob[] = FEATURES.flatMap(({ jobs = [] }) => jobs);

export const TABLES: readonly Table[] = [...FEATURES.flatMap(({ tables = [] }) => tables), ...requestTables];

/** Declarations derived from the tables for audit records and the export of an account. */
export const AUDIT_TARGETS = auditTargets(TABLES);
export const PERSON_LISTS = personLists(TABLES);
