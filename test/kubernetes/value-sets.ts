const secret = (secretName: string, key = 'url') => ({ secretName, key });

/** The minimal values: only those without a default. */
export const MINIMAL = {
  image: { repository: 'registry.example.com/ibid', digest: `sha256:${'0123456789abcdef'.repeat(4)}` },
  config: { PUBLIC_URL: 'https://wiki.example.com' },
  database: { owner: secret('db-owner'), service: secret('db-service') },
  secrets: { STORAGE_URL: secret('bucket') },
};

/** A catalogue like the built-in one, with a number of more digits than a template keeps by default. */
export const PLANS = [
  {
    ...{ plan_id: 'large', name: 'Large', seats: 9, limits: { bytes: 5368709121 } },
    ...{ interval: null, currency: 'usd', unit_amount: 0, checkout: 'none' },
  },
];

/** Value of the Secret for each option that the values below set. */
export const EXAMPLES: Record<string, string> = {
  DATABASE_URL: 'postgres://ibid:a@db/ibid',
  SERVICE_DATABASE_URL: 'postgres://ibid_service:a@db/ibid',
  DATABASE_REPLICA_URLS: 'postgres://ibid_service:a@db-2/ibid postgres://ibid_service:a@db-3/ibid',
  STORAGE_URL: 's3://key:secret@s3.example.com/wiki',
  BACKUP_URL: 's3://key:secret@s3.example.com/backups',
  BACKUP_KEY_FILE: '0123456789abcdef'.repeat(4),
  SMTP_URL: 'smtp://user:a@mail.example.com',
  OIDC_CLIENT_SECRET: 'a',
  STRIPE_SECRET_KEY: 'sk_test_a',
  STRIPE_WEBHOOK_SECRETS: 'whsec_a',
};

const secrets = {
  STORAGE_URL: secret('bucket'),
  BACKUP_URL: secret('backups'),
  BACKUP_KEY_FILE: secret('backups', 'key'),
  SMTP_URL: secret('mail'),
  OIDC_CLIENT_SECRET: secret('issuer', 'secret'),
  STRIPE_SECRET_KEY: secret('stripe', 'key'),
  STRIPE_WEBHOOK_SECRETS: secret('stripe', 'webhook'),
};
const placed = {
  nodeSelector: { pool: 'wiki' },
  tolerations: [{ key: 'wiki', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  podAnnotations: { 'example.com/team': 'docs' },
  serviceAccountAnnotations: { 'example.com/role': 'wiki' },
};
const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };

export const VALUE_SETS: Record<string, object> = {
  minimal: MINIMAL,
  everything: {
    ...MINIMAL,
    fullnameOverride: 'wiki',
    imagePullSecrets: ['registry'],
    config: {
      ...MINIMAL.config,
      OPERATORS: 'ops@example.com',
      PASSWORD_SIGN_IN: true,
      MAX_UPLOAD_FILES: 100000,
      DATABASE_CONNECTIONS: 20,
      OTEL_TRACES_SAMPLER_ARG: 0.25,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.monitoring:4318',
      OIDC_ISSUER: 'https://sso.example.com:8443/realm',
      OIDC_CLIENT_ID: 'wiki',
      WORKSPACE_LIMITS: 'pages=5000',
      BACKUP_RETENTION: 'daily=7',
    },
    database: { ...MINIMAL.database, ca: secret('db-ca', 'ca.crt'), ownerInWeb: true },
    secrets,
    plans: PLANS,
    web: { ...placed, drainSeconds: 20, autoscaling: { enabled: true } },
    worker: { ...placed, autoscaling: { enabled: true } },
    backup: { schedule: '30 2 * * *', existingClaim: 'wiki-backups' },
    extraEnv: [
      { name: 'NODE_EXTRA_CA_CERTS', value: '/run/ibid/database-ca/ca.crt' },
      { name: 'OTEL_EXPORTER_OTLP_HEADERS', valueFrom: { secretKeyRef: { name: 'otel', key: 'headers' } } },
    ],
    service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
    ingress: {
      enabled: true,
      className: 'nginx',
      tlsSecretName: 'wiki-tls',
      annotations: { 'example.com/size': '1g' },
    },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway', namespace: 'edge' }], timeouts: { request: '0s' } },
    networkPolicy: {
      ingress: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'edge' } } }],
      metrics: [monitoring],
      https: { to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] },
      extraEgress: [{ to: [monitoring], ports: [{ port: 4317, protocol: 'TCP' }] }],
    },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  },
  'replicas, a pooler and KEDA': {
    ...MINIMAL,
    fullnameOverride: 'a-name-that-is-longer-than-kubernetes-lets-a-name-of-a-job-be',
    secrets: { ...MINIMAL.secrets, BACKUP_URL: secret('backups') },
    backup: { schedule: '@daily' },
    database: { ...MINIMAL.database, replicas: secret('db-service', 'replicas') },
    worker: { autoscaling: { enabled: true, kind: 'keda', prometheusUrl: 'http://prometheus.monitoring:9090' } },
    networkPolicy: { database: { to: [{ podSelector: { matchLabels: { app: 'pooler' } } }], ports: [5432, 6432] } },
  },
  'a shared claim, and the platform chooses the user': {
    ...MINIMAL,
    image: { repository: 'ibid', tag: 'try' },
    secrets: {},
    storage: { existingClaim: 'wiki-files' },
    uid: null,
    migration: { enabled: false },
    networkPolicy: { enabled: false },
  },
};

export const REFUSED: [string, object, RegExp][] = [
  ['no address', { ...MINIMAL, config: {} }, /\/config.*PUBLIC_URL/],
  ['an address of another kind', { ...MINIMAL, config: { PUBLIC_URL: 'wiki.example.com' } }, /\/config\/PUBLIC_URL/],
  ['a misspelt option', { ...MINIMAL, config: { ...MINIMAL.config, LOG_LEVLE: 'warn' } }, /\/config.*LOG_LEVLE/],
  [
    'a secret among options',
    { ...MINIMAL, config: { ...MINIMAL.config, SMTP_URL: 'smtp://a:b@c' } },
    /\/config.*SMTP_URL/,
  ],
  ['an option that the chart sets', { ...MINIMAL, config: { ...MINIMAL.config, ROLE: 'all' } }, /\/config.*ROLE/],
  ['the value of a secret', { ...MINIMAL, secrets: { STORAGE_URL: 's3://a:b@c/d' } }, /\/secrets\/STORAGE_URL/],
  [
    'an option among variables',
    { ...MINIMAL, extraEnv: [{ name: 'DATABASE_URL', value: 'x' }] },
    /\/extraEnv\/0\/name/,
  ],
  [
    'no login of the service',
    { ...MINIMAL, database: { owner: secret('db-owner') } },
    /\/database\/service\/secretName/,
  ],
  ['no image', { ...MINIMAL, image: { repository: 'ibid' } }, /\/image/],
  ['half a digest', { ...MINIMAL, image: { digest: 'sha256:12' } }, /\/image\/digest/],
  ['root', { ...MINIMAL, uid: 0 }, /\/uid/],
  ['an unknown value', { ...MINIMAL, replicas: 3 }, /replicas/],
  ['no place for files', { ...MINIMAL, secrets: {} }, /Files need a place that all pods share/],
  ['two places for files', { ...MINIMAL, storage: { existingClaim: 'c' } }, /files are kept in one place/],
  [
    'operators without the owner',
    { ...MINIMAL, config: { ...MINIMAL.config, OPERATORS: 'a@example.com' } },
    /set database\.ownerInWeb to true/,
  ],
  ['backups to nowhere', { ...MINIMAL, backup: { schedule: '@daily' } }, /set secrets\.BACKUP_URL/],
  ['a route without a gateway', { ...MINIMAL, httpRoute: { enabled: true } }, /name the Gateway/],
  [
    'KEDA without Prometheus',
    { ...MINIMAL, worker: { autoscaling: { enabled: true, kind: 'keda' } } },
    /prometheusUrl/,
  ],
  ['fewer than the fewest', { ...MINIMAL, web: { autoscaling: { maxReplicas: 1 } } }, /minReplicas is larger/],
];
