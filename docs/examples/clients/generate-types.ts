import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** Like the command of openapi-typescript, with files as Blob: `node generate-types.ts http://127.0.0.1:8080/openapi.json api.ts` */
const [description = '', to = ''] = process.argv.slice(2);
const BLOB = ts.factory.createTypeReferenceNode('Blob');
const types = await openapiTS(new URL(description), {
  transform: ({ format }) => (format === 'binary' ? BLOB : undefined),
});
writeFileSync(to, astToString(types));
