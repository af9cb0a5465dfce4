import type { Rates } from '../access/limits/rate-limit-policies.ts';
import type { WidgetTokens } from '../access/widget-token.ts';
import type { GroupRole } from '../core/sign-in/group-roles.ts';
import type { OpenIdSignIn } from '../providers/identity/openid-sign-in.ts';
import type { Mail } from '../providers/mail/mail.ts';
import type { Payments, Plan } from '../providers/payments/payments.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import type { DocumentReader } from '../sandbox/document-reader.ts';
import type { RenderPage, WithinShares } from '../sandbox/sandbox.ts';
import type { AuditTargets, PersonList } from '../tables/define-table.ts';

/** Dependencies of endpoints other than the database. */
export interface Services {
  blobs: Blobs;
  mail: Mail;
  signIn: SignInOptions;
  /** The service's public URL without a trailing slash; the only host in generated links. */
  publicUrl: string;
  payments: Payments;
  plans: readonly Plan[];
  widgetTokens: WidgetTokens;
  /** Renders Markdown in another process, within limits. */
  renderPage: RenderPage;
  /** Compiles and renders in another process for a request, within the shares of its workspace. */
  withinShares: WithinShares;
  /** Reads documents (PDF, Word, EPUB) in another process. */
  readerOf: (workspace_id: string) => DocumentReader;
  jobChanges: JobChanges;
  /** Tells the worker of this process that jobs were enqueued, so that it does not wait for its next poll. */
  wakeWorker: () => void;
  /** Returns whether the disk is nearly full. Writes are then refused, before PostgreSQL would stop. */
  diskIsFull: () => boolean;
  limits: Limits;
  /** The rate limits; undefined if they are disabled. */
  rates: Rates | undefined;
  auditTargets: AuditTargets;
  /** The lists in the archive of a user's data. */
  personLists: readonly PersonList[];
}

/** The enabled methods of the built-in sign-in. */
export interface SignInOptions {
  /** Whether an unknown address gets a sign-in link: only if invited, or always. */
  sign_up: 'invited' | 'open';
  /** Domains whose verified addresses may sign in (`isOfDomains`). */
  domains: readonly string[];
  passwords: boolean;
  openid: OpenIdSignIn | undefined;
  /** Roles by group of the issuer; undefined if memberships do not follow groups. */
  groups: { roles: readonly GroupRole[]; warn: (message: string, details: object) => void } | undefined;
}

/** Sizes in bytes. */
export interface Limits {
  json_bytes: number;
  markdown_bytes: number;
  file_bytes: number;
  upload_bytes: number;
  upload_files: number;
}

/** Notifies of job changes, whichever process runs the jobs. */
export interface JobChanges {
  /**
   * Calls back soon for changes up to now, and after each further change of the job. Returns a function that stops
   * watching.
   */
  watch(job: { wiki_id: string; job_id: string }, onChange: () => void): () => void;
}
