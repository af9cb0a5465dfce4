// Whether this container's own process answers: not whether the database does, for which a restart helps nothing.
const path =
  process.env.ROLE === 'worker' ? `${process.env.METRICS_PORT}/metrics` : `${process.env.PORT ?? 8080}/livez`;
fetch(`http://127.0.0.1:${path}`, { signal: AbortSignal.timeout(3_000) }).then(
  ({ status }) => process.exit(status === 200 ? 0 : 1),
  () => process.exit(1),
);
