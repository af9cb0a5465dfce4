import type { Logger } from 'pino';
import type { FairQueue } from '../../core/queue/fair-queue.ts';
import type { ServiceDb } from '../../db/db.ts';
import type { EventStreams } from '../event-stream.ts';
import type { Services } from '../services.ts';

/** Dependencies that the handlers of all endpoints share. */
export interface HandlerNeeds {
  db: ServiceDb;
  services: Services;
  log: Logger;
  streams: EventStreams;
  /** Queue for heavy endpoints. */
  heavy: FairQueue;
}
