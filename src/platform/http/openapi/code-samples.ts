import type { TObject } from 'typebox';
import { Bytes, Download } from '../bytes.ts';
import type { Endpoint } from '../endpoint.ts';
import { EventStream } from '../event-stream.ts';
import { STREAM_TYPES } from '../stream-types.ts';

export interface Sample {
  lang: string;
  label: string;
  source: string;
}

/** An example request to an endpoint. */
interface Request {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  json?: unknown;
  /** The name of the form field for a file. */
  form?: string;
  /** The name of a file whose bytes are the body. */
  file?: string;
}

/** Values of path parameters and required query parameters that no example of a record contains. */
const VALUES: Record<string, string> = {
  avatar_id: 'avatar_01jd8w3v6xf3e8h2k9m4n5p6z1',
  export_id: 'export_01jd8w3v6xf3e8h2k9m4n5p6x1',
  page_path: 'guide/setup',
  query: 'setup',
  from_revision: '1',
  to_revision: '2',
  revision: '1',
  widget: 'profile',
};

/** Values of the headers for resumable uploads (tus). */
const HEADERS: Record<string, string> = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0' };

/** Makes the code samples of an endpoint for a service at `origin`, with IDs from the examples of `endpoints`. */
export function sampler(endpoints: readonly Endpoint[], origin: string): (endpoint: Endpoint) => Sample[] {
  const values = new Map<string, string>(Object.entries(VALUES));
  for (const { example } of endpoints) collectValues(example, values);
  return (endpoint) => {
    const request = requestOf(endpoint, origin, values);
    return [
      { lang: 'bash', label: 'curl', source: curl(request) },
      { lang: 'javascript', label: 'JavaScript', source: javascript(request, endpoint) },
    ];
  };
}

/** Collects the first value of each field in the examples. */
function collectValues(example: unknown, values: Map<string, string>): void {
  if (typeof example !== 'object' || example === null) return;
  for (const [name, value] of Object.entries(example)) {
    if (typeof value === 'string' && value !== '' && !values.has(name)) values.set(name, value);
    collectValues(value, values);
  }
}

function requestOf(endpoint: Endpoint, origin: string, values: ReadonlyMap<string, string>): Request {
  const { method, access, consumes, form, requestHeaders = {}, body, signedBody, example } = endpoint;
  const exampleOf = (name: string) => values.get(name) ?? name.toUpperCase();
  const path = endpoint.path.replace(/[:*]([a-z_]+)/g, (_, name) =>
    exampleOf(name).split('/').map(encodeURIComponent).join('/'),
  );
  const { properties = {}, required = [] } = (endpoint.query ?? {}) as TObject;
  const asked = required.filter((name) => !('default' in (properties[name] ?? {})));
  const query = new URLSearchParams(asked.map((name) => [name, exampleOf(name)]));
  const token = access.on === 'widget' ? 'WIDGET_TOKEN' : 'KEY';
  const type = consumes === 'multipart' ? undefined : consumes ? STREAM_TYPES[consumes][0] : body && 'application/json';
  return {
    method,
    url: `${origin}${path}${query.size > 0 ? `?${query}` : ''}`,
    headers: [
      ...(access.on === 'anyone' ? [] : [['Authorization', `Bearer ${token}`] as [string, string]]),
      ...Object.entries(HEADERS).filter(([name]) => name in requestHeaders),
      ...(type ? [['Content-Type', type] as [string, string]] : []),
    ],
    ...(consumes === 'multipart' && { form: form?.file ? 'file' : 'files' }),
    ...(consumes && consumes !== 'multipart' && { file: consumes === 'picture' ? 'picture.png' : 'guide.pdf' }),
    ...(!consumes && (body || signedBody) && { json: example.body ?? {} }),
  };
}

function curl({ method, url, headers, json, form, file }: Request): string {
  const parts = [
    ...(method === 'GET' || (method === 'POST' && (form !== undefined || json !== undefined)) ? [] : [`-X ${method}`]),
    ...headers.map(
      ([name, value]) =>
        `-H ${name === 'Authorization' ? `"${name}: ${value.replace(' ', ' $')}"` : quoted(`${name}: ${value}`)}`,
    ),
    ...(form === undefined ? [] : [`-F '${form}=@guide.pdf'`]),
    ...(file === undefined ? [] : [`--data-binary '@${file}'`]),
    ...(json === undefined ? [] : [`-d ${quoted(JSON.stringify(json, null, 2))}`]),
  ];
  return [`curl ${quoted(url)}`, ...parts].join(' \\\n  ');
}

function javascript({ method, url, headers, json, form, file }: Request, { reply, status }: Endpoint): string {
  const listed = headers.map(([name, value]) =>
    name === 'Authorization'
      ? `${name}: \`${value.replace(' ', ' ${')}}\``
      : `${/^\w+$/.test(name) ? name : `'${name}'`}: '${value}'`,
  );
  const body =
    form !== undefined
      ? 'form'
      : file !== undefined
        ? 'file'
        : json === undefined
          ? undefined
          : `JSON.stringify(${indented(json)})`;
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(listed.length > 0 ? [`headers: { ${listed.join(', ')} }`] : []),
    ...(body === undefined ? [] : [`body: ${body}`]),
  ];
  return [
    // `input` is a file input in the page.
    ...(form === undefined ? [] : ['const form = new FormData();', `form.append('${form}', input.files[0]);`]),
    ...(file === undefined ? [] : ['const file = input.files[0];']),
    options.length === 0
      ? `const response = await fetch('${url}');`
      : `const response = await fetch('${url}', {\n${options.map((option) => `  ${option},\n`).join('')}});`,
    'if (!response.ok) throw new Error((await response.json()).message);',
    ...answer(reply, status),
  ].join('\n');
}

function answer(reply: unknown, status: number | undefined): string[] {
  if (status === 204) return [];
  if (reply === Bytes || reply === Download) return ['const file = await response.blob();'];
  if (reply === EventStream)
    return ['for await (const event of response.body.pipeThrough(new TextDecoderStream())) console.log(event);'];
  return ['const answer = await response.json();'];
}

/** Indents JSON inside the options of a request. */
function indented(json: unknown): string {
  return JSON.stringify(json, null, 2).replaceAll('\n', '\n  ');
}

/** Quotes an argument for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
