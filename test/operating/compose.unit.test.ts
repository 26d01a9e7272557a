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
const service = z.strictObject({
  image: z.string(),
  logging: z.strictObject({
    driver: z.literal('json-file'),
    options: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }),
  }),
  scale: z.number().default(1),
  build: z.string().optional(),
  user: z.string().optional(),
  restart: z.enum(['no', 'unless-stopped']),
  mem_limit: z.string(),
  pids_limit: z.number(),
  profiles: list,
  read_only: z.boolean().default(false),
  tmpfs: list,
  cap_drop: list,
  security_opt: list,
  stop_grace_period: z.string().optional(),
  entrypoint: list,
  command: list,
  environment: z.record(z.string(), z.string()).default({}),
  secrets: list,
  volumes: list,
  ports: list,
  networks: z.array(z.string()),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()).min(2),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string().optional(),
    })
    .optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
});
type Service = z.infer<typeof service>;
const composeFile = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.record(
    z.string(),
    z.looseObject({ internal: z.boolean().default(false) }).nullable(),
  ),
  volumes: z.record(z.string(), z.null()),
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

  it('docker-compose.yml runs every process of the service from one image', () => {
    assert.deepEqual(ours.map(([name]) => name).sort(), Object.keys(PROCESSES).sort());
    assert.equal(new Set(ours.map(([, { image }]) => image)).size, 1);
  });

  for (const [name, [variables, readIt]] of Object.entries(PROCESSES))
    it(`docker-compose.yml gives ${name} only known variables and every required one, with secrets in files of make-secrets.sh, so that ${name} starts with no other setting`, () => {
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

  it('docker-compose.yml checks the health of each process at an address on which it listens', () => {
    for (const name of ['api', 'worker']) {
      const { environment, healthcheck } = serviceOf(name);
      assert.match(
        healthcheck?.test.join(' ') ?? '',
        new RegExp(`127.0.0.1:${environment.ADMIN_PORT}/readyz`),
      );
      assert.equal(environment.ADMIN_HOST, '0.0.0.0');
    }
  });

  it('docker-compose.yml gives processes more time to stop than they need', () => {
    for (const name of ['api', 'worker']) {
      const seconds = Number(/^(\d+)s$/.exec(serviceOf(name).stop_grace_period ?? '')?.[1]);
      const graceMs = VARIABLES.SHUTDOWN_GRACE_MS.parse(undefined);
      const delayMs = Number(serviceOf(name).environment.STOP_DELAY_MS ?? 0);
      assert.ok(seconds * 1000 >= delayMs + 2 * graceMs, `${name} has ${seconds} s`);
    }
  });

  it('docker-compose.yml has every secret in a file that make-secrets.sh writes once', () => {
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
    assert.match(read('deploy/docker/secrets/.gitignore'), /^\*$/m);
    const used = new Set(services.flatMap(([, { secrets }]) => secrets));
    assert.deepEqual([...used].sort(), files);
  });

  it('docker-compose.yml contains no password, and requires none in the environment', () => {
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

  it('docker-compose.yml pins every image, and has the tools of Temporal in the version of its server', () => {
    const tags = new Map<string, Set<string>>();
    for (const [name, { image, build }] of services) {
      if (build !== undefined) continue;
      const [, repository = '', tag = ''] =
        /^([a-z/-]+):(v?\d+\.\d+\.\d+)(?:@sha256:[0-9a-f]{64})?$/.exec(image) ?? [];
      assert.notEqual(tag, '', `${name}: ${image} is not pinned`);
      tags.set(repository, (tags.get(repository) ?? new Set()).add(tag));
    }
    for (const [repository, versions] of tags) assert.equal(versions.size, 1, repository);
    assert.deepEqual(tags.get('temporalio/server'), tags.get('temporalio/admin-tools'));
    // What the campaign `composed` builds.
    const module = /go\.temporal\.io\/server v(\S+)/.exec(
      read('test/campaigns/temporal-server/go.mod'),
    )?.[1];
    assert.deepEqual([...(tags.get('temporalio/server') ?? [])], [module]);
  });

  it('docker-compose.yml confines every container: no root, no capability, no writable file system except the database’s, and bounded memory, processes and logs', () => {
    for (const [name, one] of services) {
      if (one.build === undefined) assert.match(one.user ?? 'root', /^[1-9]\d*:[1-9]\d*$/, name);
      else assert.equal(one.user, undefined, `${name} has the user of the image`);
      assert.deepEqual(
        [one.cap_drop, one.security_opt, one.read_only],
        [['ALL'], ['no-new-privileges:true'], name !== 'mysql'],
        name,
      );
      assert.match(one.mem_limit, /^(\d+m|[1-4]g)$/, name);
      assert.ok(one.pids_limit >= 32 && one.pids_limit <= 1_000, name);
      assert.match(one.logging.options['max-size'], /^\d+m$/, name);
      assert.match(one.logging.options['max-file'], /^\d$/, name);
    }
    assert.match(read('Dockerfile'), /\nUSER 1000:1000\n(?!.*\nUSER )/);
    // The buffer pool is only a part of what MySQL takes.
    const { command, mem_limit: memory } = serviceOf('mysql');
    const pools = command.filter((option) => option.includes('buffer-pool'));
    assert.deepEqual([pools, memory], [['--innodb-buffer-pool-size=2G'], '3g']);
  });

  it('docker-compose.yml keeps durable data in a volume, and mounts our files read-only', () => {
    assert.deepEqual(Object.keys(compose.volumes), [
      'mysql-data',
      'ops-sessions',
      'prometheus-data',
      'grafana-data',
    ]);
    // Made for the user of the image, who alone may read what is in it.
    assert.match(
      read('Dockerfile'),
      /install --directory --owner=node --group=node --mode=0700 \/app\/sessions/,
    );
    assert.deepEqual(serviceOf('ops').volumes, ['ops-sessions:/app/sessions']);
    assert.deepEqual(serviceOf('mysql').volumes, ['mysql-data:/var/lib/mysql']);
    for (const [name, { volumes }] of services)
      for (const volume of volumes.filter((one) => one.startsWith('.'))) {
        const [from = '', , mode] = volume.split(':');
        assert.ok(existsSync(from), `${name}: there is no ${from}`);
        assert.equal(mode, 'ro', `${name}: ${from}`);
      }
  });

  it('docker-compose.yml opens ports only on loopback, and only those that people use', () => {
    const open = services.flatMap(([name, { ports }]) => ports.map((port) => [name, port]));
    assert.deepEqual(open, [
      ['temporal-ui', '127.0.0.1:8233:8080'],
      ['proxy', '127.0.0.1:8080:8080'],
      ['support', '127.0.0.1:8070:8070'],
      ['grafana', '127.0.0.1:3000:3000'],
    ]);
    assert.equal(compose.networks.inside?.internal, true);
    // They deliver webhooks, call rails and sign people in.
    const calls = ['api', 'worker', 'support', 'ops', 'temporal-ui'];
    // Reached from outside, without reaching anything outside: so the only way to the API is the proxy.
    const fronts = ['proxy', 'grafana'];
    for (const [name, { networks }] of services) {
      const more = calls.includes(name) ? ['edge'] : fronts.includes(name) ? ['front'] : [];
      assert.deepEqual(networks, ['inside', ...more], name);
    }
  });

  it('docker-compose.yml has the proxy check every API process, which trusts only the proxy', () => {
    const config = read('deploy/haproxy/haproxy.cfg');
    const { environment } = serviceOf('api');
    assert.match(
      config,
      new RegExp(
        `server-template api- \\d+ api:${environment.PORT} port ${environment.ADMIN_PORT} `,
      ),
    );
    const { inside } = z
      .object({
        inside: z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }) }),
      })
      .parse(compose.networks);
    assert.equal(
      environment.TRUSTED_PROXIES,
      `\${TRUSTED_PROXIES:-${inside.ipam.config[0]?.subnet}}`,
    );
    assert.deepEqual(
      services.filter(([, { scale }]) => scale > 1).map(([name]) => name),
      ['api', 'worker'],
    );
    // What is told to stop is asked for two checks more.
    const [, everyMs, fall] = /check inter (\d+)ms fall (\d+)/.exec(config) ?? [];
    assert.ok(Number(environment.STOP_DELAY_MS) >= 2 * Number(everyMs) * Number(fall));
  });

  it('docker-compose.yml gives processes that share a setting the same value', () => {
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

  it('docker-compose.yml has the same defaults as config.ts', () => {
    for (const [name, [variables]] of Object.entries(PROCESSES))
      for (const [variable, given] of Object.entries(serviceOf(name).environment)) {
        const [, value] = /^\$\{[A-Z_]+:-(\d+)\}$/.exec(given) ?? [];
        if (value !== undefined)
          assert.equal(variables[variable]?.parse(undefined), Number(value), `${name} ${variable}`);
      }
  });

  it('docker-compose.yml checks the health of running services, and waits until the migrations are done and the servers are healthy', () => {
    for (const [name, { restart, healthcheck, depends_on: needs }] of services) {
      assert.equal(healthcheck !== undefined, restart === 'unless-stopped', name);
      for (const [other, { condition }] of Object.entries(needs)) {
        const isStep = serviceOf(other).restart === 'no';
        const expected = isStep ? 'service_completed_successfully' : 'service_healthy';
        assert.equal(condition, expected, `${name} → ${other}`);
      }
    }
    assert.deepEqual(Object.keys(serviceOf('migrate').depends_on), ['mysql-users']);
    for (const name of ['api', 'worker', 'ops'])
      assert.deepEqual(Object.keys(serviceOf(name).depends_on), ['migrate']);
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

  it('the Dockerfile builds every program that compose starts, and the bundle of the workflows', () => {
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

  it('the Dockerfile copies every folder that these programs and the workflows import, and .dockerignore excludes none of them', () => {
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

  it('the Dockerfile compiles only copied files, on one exact version of Node, and bounds the heap of API and worker', () => {
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
