import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  type Environment,
  MIGRATION_VARIABLES,
  OPS_VARIABLES,
  readConfig,
  readMigrationConfig,
  readOpsConfig,
  readSupportConfig,
  readWorkerConfig,
  SUPPORT_VARIABLES,
  VARIABLES,
  WORKER_VARIABLES,
} from '../../src/config/config.js';
import {
  assertComplete,
  assertKnown,
  isSecret,
  plainName,
  secretOf,
  type Variables,
} from './variables.js';

const list = z.array(z.string()).default([]);
const service = z.looseObject({
  scale: z.number().default(1),
  build: z.string().optional(),
  stop_grace_period: z.string().optional(),
  entrypoint: list,
  command: list,
  environment: z.record(z.string(), z.string()).default({}),
  secrets: list,
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
});
type Service = z.infer<typeof service>;
const composeFile = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.looseObject({
    inside: z.object({ ipam: z.object({ config: z.tuple([z.object({ subnet: z.string() })]) }) }),
  }),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

const read = (file: string): string => readFileSync(file, 'utf8');
const compose = composeFile.parse(parse(read('docker-compose.yml'), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

/** Each process of ours with the variables that config.ts gives it, and how it reads them. */
const PROCESSES: Readonly<
  Record<string, readonly [Variables, (environment: Environment) => unknown]>
> = {
  api: [VARIABLES, readConfig],
  worker: [WORKER_VARIABLES, readWorkerConfig],
  support: [SUPPORT_VARIABLES, readSupportConfig],
  migrate: [MIGRATION_VARIABLES, readMigrationConfig],
  ops: [OPS_VARIABLES, readOpsConfig],
};

/** `${NAME:-default}` where nothing is set. */
function withDefaults(text: string): string {
  return text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1').replaceAll('$$', '$');
}

function serviceOf(name: string): Service {
  const found = compose.services[name];
  assert.ok(found !== undefined, `there is no service ${name}`);
  return found;
}

describe('docker-compose.yml', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'compose-'));
    copyFileSync('deploy/docker/make-secrets.sh', join(folder, 'make-secrets.sh'));
    makeSecrets();
  });
  after(() => rmSync(folder, { recursive: true }));
  const makeSecrets = (): unknown =>
    execFileSync('sh', [join(folder, 'make-secrets.sh')], { stdio: 'pipe' });

  it('runs every process of the service', () => {
    assert.deepEqual(ours.map(([name]) => name).sort(), Object.keys(PROCESSES).sort());
  });

  for (const [name, [variables, readIt]] of Object.entries(PROCESSES))
    it(`gives ${name} only known variables and every required one, with secrets in files of make-secrets.sh, so that ${name} starts with no other setting`, () => {
      const { environment, secrets } = serviceOf(name);
      const given = Object.keys(environment);
      assertKnown(given, variables);
      assertComplete(given, variables);
      assert.equal(new Set(given.map(plainName)).size, given.length, 'a variable is given twice');
      const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'));
      assert.deepEqual(files.map(([, path]) => secretOf(path)).sort(), [...secrets].sort());
      assert.deepEqual(
        given.filter((variable) => isSecret(variable, variables)),
        [],
      );
      const set = Object.entries(environment).map(([variable, value]) => {
        const secret = secretOf(value);
        const file = secret && join(folder, 'secrets', secret);
        return [variable, file ?? withDefaults(value)];
      });
      assert.doesNotThrow(() => readIt(Object.fromEntries(set) as Environment));
    });

  it('checks the health of each process at an address on which it listens', () => {
    for (const name of ['api', 'worker']) {
      const { environment, healthcheck } = serviceOf(name);
      assert.match(
        healthcheck?.test.join(' ') ?? '',
        new RegExp(`127.0.0.1:${environment.ADMIN_PORT}/readyz`),
      );
      assert.equal(environment.ADMIN_HOST, '0.0.0.0');
    }
  });

  it('gives processes more time to stop than they need', () => {
    for (const name of ['api', 'worker']) {
      const seconds = Number(/^(\d+)s$/.exec(serviceOf(name).stop_grace_period ?? '')?.[1]);
      const graceMs = VARIABLES.SHUTDOWN_GRACE_MS.parse(undefined);
      const delayMs = Number(serviceOf(name).environment.STOP_DELAY_MS ?? 0);
      assert.ok(seconds * 1000 >= delayMs + 2 * graceMs, `${name} has ${seconds} s`);
    }
  });

  it('has every secret in a file that make-secrets.sh writes once', () => {
    const files = Object.entries(compose.secrets).map(([name, { file }]) => {
      assert.equal(file, `./deploy/docker/secrets/${name}`);
      return name;
    });
    const made = readdirSync(join(folder, 'secrets'));
    assert.deepEqual(made.sort(), files.sort());
    const contents = (): string[] => made.map((name) => read(join(folder, 'secrets', name)));
    const first = contents();
    makeSecrets();
    assert.deepEqual(contents(), first);
    assert.equal(new Set(first).size, first.length, 'two secrets are the same');
    assert.equal(statSync(join(folder, 'secrets')).mode & 0o777, 0o700);
    const used = new Set(services.flatMap(([, { secrets }]) => secrets));
    assert.deepEqual([...used].sort(), files);
  });

  it('contains no password, and requires none in the environment', () => {
    const text = read('docker-compose.yml');
    assert.doesNotMatch(text, /mysql:\/\/[^\s]*:[^\s]*@/);
    for (const [name, { environment }] of services)
      for (const variable of Object.keys(environment))
        assert.doesNotMatch(
          variable,
          /(PASSWORD|PWD|SECRET|KEYS?|(?<!_OF_)TOKEN)$/,
          `${name} has ${variable} in plain`,
        );
  });

  it('has the proxy check every API process, which trusts only the proxy', () => {
    const config = read('deploy/haproxy/haproxy.cfg');
    const { environment } = serviceOf('api');
    assert.match(
      config,
      new RegExp(
        `server-template api- \\d+ api:${environment.PORT} port ${environment.ADMIN_PORT} `,
      ),
    );
    const [{ subnet }] = compose.networks.inside.ipam.config;
    assert.equal(environment.TRUSTED_PROXIES, `\${TRUSTED_PROXIES:-${subnet}}`);
    assert.deepEqual(
      services.filter(([, { scale }]) => scale > 1).map(([name]) => name),
      ['api', 'worker'],
    );
    // What is told to stop is asked for two checks more.
    const [, everyMs, fall] = /check inter (\d+)ms fall (\d+)/.exec(config) ?? [];
    assert.ok(Number(environment.STOP_DELAY_MS) >= 2 * Number(everyMs) * Number(fall));
  });

  it('gives processes that share a setting the same value', () => {
    const shared = {
      WEBHOOK_ALLOWED_HOSTS: ['api', 'worker'],
      BASE_URL: ['api', 'worker'],
      ENCRYPTION_KEYS_FILE: ['api', 'worker'],
      PAYOUT_RAIL_URLS: ['api', 'worker', 'ops'],
    };
    for (const [variable, names] of Object.entries(shared)) {
      const values = names.map((name) => serviceOf(name).environment[variable]);
      assert.ok(values[0] !== undefined, variable);
      assert.equal(new Set(values).size, 1, variable);
    }
  });

  it('has the same defaults as config.ts', () => {
    for (const [name, [variables]] of Object.entries(PROCESSES))
      for (const [variable, given] of Object.entries(serviceOf(name).environment)) {
        const [, value] = /^\$\{[A-Z_]+:-(\d+)\}$/.exec(given) ?? [];
        if (value !== undefined)
          assert.equal(variables[variable]?.parse(undefined), Number(value), `${name} ${variable}`);
      }
  });

  it('the scripts in docker-compose.yml are valid shell', () => {
    for (const name of readdirSync('deploy/docker').filter((file) => file.endsWith('.sh'))) {
      const shell = /^#!\/bin\/(sh|bash)\n/.exec(read(join('deploy/docker', name)))?.[1];
      assert.ok(shell !== undefined, name);
      execFileSync(shell, ['-n', join('deploy/docker', name)], { stdio: 'pipe' });
    }
  });
});

describe('the Dockerfile', () => {
  const build = read('Dockerfile').split(/^FROM /m)[1] ?? '';
  const copied = Array.from(build.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, what = '']) =>
    what.split(' '),
  ).flat();
  const commands = ours.flatMap(([, { command, entrypoint }]) => [...command, ...entrypoint]);
  const image = /^CMD (.+)$/m.exec(read('Dockerfile'))?.[1] ?? '';
  const programs = [
    ...commands,
    ...z.array(z.string()).parse(JSON.parse(image)),
    ...build.split(/\s+/),
  ]
    .filter((word) => word.startsWith('dist/'))
    .map((program) => program.replace(/^dist\//, '').replace(/\.js$/, '.ts'));

  it('builds every program that compose starts, and the bundle of the workflows', () => {
    assert.match(build, /npm run build/);
    assert.deepEqual([...new Set(programs)].sort(), [
      'src/ops/main.ts',
      'src/processes/api.ts',
      'src/processes/migrate.ts',
      'src/processes/support.ts',
      'src/processes/worker.ts',
    ]);
    assert.ok(programs.every((program) => existsSync(program)));
  });

  it('copies every folder that these programs and the workflows import, and .dockerignore excludes none of them', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const [, path = ''] of read(file).matchAll(/(?:from |import\()'(\.[^']+)\.js'/g))
        visit(`${normalize(join(dirname(file), path))}.ts`);
    };
    [...programs, 'workflows/index.ts', 'scripts/docs/site/write.ts'].forEach(visit);
    const folderOf = (file: string): string => /^(scripts\/)?[^/]+/.exec(file)?.[0] ?? '';
    const imported = new Set(Array.from(reached, folderOf));
    // The build renders the pages of the site, of which the image keeps the result.
    const folders = [...imported, 'docs', 'scripts/lib'].sort();
    assert.deepEqual(
      copied.filter((what) => existsSync(what) && statSync(what).isDirectory()).sort(),
      folders,
    );
    assert.doesNotMatch(read('Dockerfile'), /COPY --from=build .*docs/);
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    assert.deepEqual(allowed.map((line) => line.slice(1)).sort(), [...copied].sort());
  });

  it('compiles only copied files, on one exact version of Node, and bounds the heap of API and worker', () => {
    for (const file of ['package.json', 'package-lock.json', 'tsconfig.json'])
      assert.ok(copied.includes(file), file);
    assert.match(build, /npm ci --ignore-scripts/);
    assert.match(build, /npm prune --omit=dev/);
    const bases = Array.from(read('Dockerfile').matchAll(/^FROM (\S+)/gm), ([, base = '']) => base);
    assert.deepEqual([bases.length, new Set(bases).size], [2, 1]);
    assert.match(bases[0] ?? '', /^node:\d+\.\d+\.\d+-[a-z-]+(@sha256:[0-9a-f]{64})?$/);
    assert.match(image, /--max-semi-space-size=64/);
    assert.match(
      read('docker-compose.yml'),
      /'--max-old-space-size=256', 'dist\/src\/processes\/worker.js'/,
    );
  });
});
