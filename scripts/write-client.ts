import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_FOLDER, clientFiles } from './docs/client.js';
import { POSTMAN_FILE, postmanCollection } from './docs/postman.js';

/**
 * `npm run docs:client`: writes the files generated from the OpenAPI document: the client's types
 * and methods, the packed client that the site offers, and the Postman collection.
 */
mkdirSync(CLIENT_FOLDER, { recursive: true });
for (const [name, text] of Object.entries(await clientFiles()))
  writeFileSync(join(CLIENT_FOLDER, name), text);
writeFileSync(POSTMAN_FILE, await postmanCollection());
const packed = execFileSync('npm', ['pack', './packages/client', '--silent'], { encoding: 'utf8' });
renameSync(packed.trim(), 'docs/site/money-movement-client.tgz');
