import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { SUPPORT_VARIABLES, VARIABLES, WORKER_VARIABLES } from '../../src/config/config.js';
import { assertKnown, secretOf } from './variables.js';

const service = z.strictObject({
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
});
const composeFile = z.looseObject({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
const FILE = 'deploy/docker-compose.authentication.yml';
const text = readFileSync(FILE, 'utf8');
const { services, secrets } = composeFile.parse(parse(text, { merge: true }));
const base = z
  .looseObject({ services: z.record(z.string(), z.unknown()) })
  .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }));

describe(FILE, () => {
  it('the compose file for authentication extends only existing services, and gives every client of Temporal a certificate', () => {
    for (const name of Object.keys(services)) assert(name in base.services, name);
    const clients = ['temporal-namespace', 'temporal-ui', 'api', 'worker', 'support'];
    for (const name of clients)
      assert.deepEqual(services[name]?.secrets.slice(0, 3), [
        'temporal_ca',
        'temporal_client_cert',
        'temporal_client_key',
      ]);
    const speakers = Object.entries(base.services).filter(([, one]) =>
      JSON.stringify(one).includes('TEMPORAL_ADDRESS'),
    );
    assert.deepEqual(speakers.map(([name]) => name).sort(), clients.sort());
  });

  it('the compose file for authentication gives the processes no variable that config.ts does not know', () => {
    for (const [name, variables] of [
      ['api', VARIABLES],
      ['worker', WORKER_VARIABLES],
      ['support', SUPPORT_VARIABLES],
    ] as const)
      assertKnown(Object.keys(services[name]?.environment ?? {}), variables);
  });

  it('the compose file for authentication mounts each secret where it is named, and nowhere else', () => {
    for (const [name, { environment, secrets: own }] of Object.entries(services)) {
      const named = Object.values(environment).flatMap((value) => secretOf(value) ?? []);
      assert.deepEqual([...new Set(named)].sort(), [...own].sort(), name);
      for (const secret of own) assert(secret in secrets, secret);
    }
  });

  it('the compose file for authentication has no default secret or address: compose fails and names the variable that is not set', () => {
    const used = new Set(
      Array.from(text.matchAll(/\$\{([A-Z_]+)(:[?-])/g), ([, name, how]) => `${how} ${name}`),
    );
    const optional = [...used].filter((one) => one.startsWith(':-')).map((one) => one.slice(3));
    assert.deepEqual(optional.sort(), [
      'SUPPORT_CODE_SIGN_IN',
      'SUPPORT_OIDC_NAME_CLAIM',
      'SUPPORT_OIDC_RIGHTS',
      'SUPPORT_OIDC_RIGHTS_CLAIM',
      'SUPPORT_OIDC_SCOPE',
      'TEMPORAL_DISABLE_WRITE_ACTIONS',
    ]);
    for (const { file } of Object.values(secrets)) assert.match(file, /^\$\{[A-Z_]+:\?/);
    for (const [, { environment }] of Object.entries(services))
      for (const [variable, value] of Object.entries(environment))
        if (/SECRET$|CLIENT_ID$|ISSUER$|PROVIDER_URL$|CALLBACK_URL$/.test(variable))
          assert.match(value, /^\$\{[A-Z_]+:\?/);
  });
});
