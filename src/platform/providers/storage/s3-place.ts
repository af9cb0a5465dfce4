/** Location of a bucket, from STORAGE_URL. */
export interface S3Place {
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefix of all keys: '' or a folder with a slash at its end. */
  prefix: string;
  path_style: boolean;
  access_key: string;
  secret_key: string;
}

/**
 * Parses `s3://key:secret@host:port/bucket/folder?region=…&path_style=…&tls=…`. Defaults: https, except for this
 * machine, and the bucket in the path. Throws an Error that names the option.
 */
export function readS3Url(text: string, option = 'STORAGE_URL'): S3Place {
  const { username, password, host, hostname, pathname, searchParams } = new URL(text);
  const [bucket = '', ...folders] = pathname.split('/').filter((segment) => segment !== '');
  if (username === '' || password === '' || bucket === '') {
    throw new Error(`${option} takes an address such as s3://key:secret@host:9000/bucket?region=eu-central-1.`);
  }
  const flag = (name: string, usual: boolean) => {
    const value = searchParams.get(name) ?? String(usual);
    if (value === 'true' || value === 'false') return value === 'true';
    throw new Error(`${option} has a ${name} that is neither true nor false.`);
  };
  const isHere = /^(127\.[\d.]+|localhost|\[::1\])$/.test(hostname);
  return {
    endpoint: `${flag('tls', !isHere) ? 'https' : 'http'}://${host}`,
    region: searchParams.get('region') ?? 'us-east-1',
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    path_style: flag('path_style', true),
    access_key: decodeURIComponent(username),
    secret_key: decodeURIComponent(password),
  };
}
