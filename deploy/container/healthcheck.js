// Checks only this container's own process: restarting it would not help an unavailable database.
import { inspectConfig } from '../../src/operation/config.ts';

const { ROLE, METRICS_PORT, PORT } = inspectConfig(process.env).config;
const port = ROLE === 'worker' ? METRICS_PORT : PORT;
fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(3_000) }).then(
  ({ status }) => process.exit(status === 200 ? 0 : 1),
  () => process.exit(1),
);
