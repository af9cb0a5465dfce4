import { account } from './account/feature.ts';
import { attachments } from './attachments/feature.ts';
import { audit } from './audit/feature.ts';
import { autosaves } from './autosaves/feature.ts';
import { backup } from './backup/feature.ts';
import { billing } from './billing/feature.ts';
import { blobs } from './blobs/feature.ts';
import type { Feature } from './feature.ts';
import type { Endpoint } from './http/endpoint.ts';
import { requestTables } from './http/tables.ts';
import { ingest } from './ingest/feature.ts';
import { invitations } from './invitations/feature.ts';
import type { AnyJob } from './jobs/define-job.ts';
import { jobs } from './jobs/feature.ts';
import { keys } from './keys/feature.ts';
import { members } from './members/feature.ts';
import { pages } from './pages/feature.ts';
import { retention } from './retention/feature.ts';
import { revisions } from './revisions/feature.ts';
import { search } from './search/feature.ts';
import { session } from './session/feature.ts';
import { sources } from './sources/feature.ts';
import { stars } from './stars/feature.ts';
import { auditTargets, personLists, type Table } from './tables/define-table.ts';
import { templates } from './templates/feature.ts';
import { transfer } from './transfer/feature.ts';
import { uploads } from './uploads/feature.ts';
import { usage } from './usage/feature.ts';
import { verification } from './verification/feature.ts';
import { WIDGET_ENDPOINTS } from './widget-endpoints.ts';
import { widgets } from './widgets/feature.ts';
import { wikis } from './wikis/feature.ts';
import { workspaces } from './workspaces/feature.ts';

/** In the order of the API's description. */
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
  // Wikis and what they hold.
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
  stars,
  search,
  blobs,
  backup,
];

/** The whole API: what is not in this list does not exist. */
export const ENDPOINTS: readonly Endpoint[] = FEATURES.flatMap((feature) => [
  ...(feature.endpoints ?? []),
  ...(feature === widgets ? WIDGET_ENDPOINTS : []),
]);

/** Everything that is done later. What is not in this list is never run. */
export const JOBS: readonly AnyJob[] = FEATURES.flatMap(({ jobs = [] }) => jobs);

/** Every table of the database. */
export const TABLES: readonly Table[] = [...FEATURES.flatMap(({ tables = [] }) => tables), ...requestTables];

/** What audit records and the export of an account take from the tables. */
export const AUDIT_TARGETS = auditTargets(TABLES);
export const PERSON_LISTS = personLists(TABLES);
