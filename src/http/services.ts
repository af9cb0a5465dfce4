import type { Rates } from '../access/rate-limits.ts';
import type { WidgetTokens } from '../access/widget-token.ts';
import type { RenderPage } from '../markdown/render.ts';
import type { OpenIdSignIn } from '../providers/identity/openid-sign-in.ts';
import type { Mail } from '../providers/mail/mail.ts';
import type { Payments, Plan } from '../providers/payments/payments.ts';
import type { Blobs } from '../providers/storage/blobs.ts';

/** What is outside the database and an endpoint may need. */
export interface Services {
  blobs: Blobs;
  mail: Mail;
  signIn: SignInOptions;
  /** Where users reach the service, without a slash at the end: the only host that links are made of. */
  publicUrl: string;
  payments: Payments;
  /** The catalogue of plans. */
  plans: readonly Plan[];
  widgetTokens: WidgetTokens;
  /** Renders Markdown apart from the requests, within bounds. */
  renderPage: RenderPage;
  /** Says when jobs change. */
  jobChanges: JobChanges;
  /** Says that jobs were enqueued, so that a worker of this process need not wait for its next look. */
  wakeWorker: () => void;
  /** The disk is nearly full: writes are refused before the database itself would stop. */
  diskIsFull: () => boolean;
  limits: Limits;
  /** How often what may be done; undefined where that is not limited. */
  rates: Rates | undefined;
}

/** What of the built-in sign-in is on. */
export interface SignInOptions {
  /** Whether an address that nobody knows gets a link by mail. */
  sign_up: 'invited' | 'open';
  passwords: boolean;
  openid: OpenIdSignIn | undefined;
}

/** Sizes in bytes. */
export interface Limits {
  json_bytes: number;
  markdown_bytes: number;
  file_bytes: number;
  upload_bytes: number;
  upload_files: number;
}

/** Says when jobs change, on whatever process they run. */
export interface JobChanges {
  /** Calls back soon, for what changed until now, and after each change of a job; answers how to stop that. */
  watch(job: { wiki_id: string; job_id: string }, onChange: () => void): () => void;
}
