import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../helpers/service-process.js';

const run = promisify(execFile);

/** A project with nothing but the packed file. Its compiler is as strict as it can be. */
const PROJECT = { type: 'module', private: true };
const COMPILER = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    types: [],
  },
  include: ['program.ts'],
};
const PROGRAM = `
import { isMoneyError, MoneyClient, type Transfer } from 'money-movement-client';

const client = new MoneyClient({ baseUrl: 'http://127.0.0.1:9', token: 'none', patienceMs: 1 });
const described = (transfer: Transfer): bigint => transfer.amount.raw;
const answer = await client.getTransfer('nobody').then(described, (error: unknown) =>
  isMoneyError(error) ? error.code : 'unexpected',
);
console.log(answer);
`;

const folder = mkdtempSync(join(tmpdir(), 'packed-'));
await run('npm', ['pack', './packages/client', '--pack-destination', folder], { cwd: ROOT });
const [file] = readdirSync(folder);
assert.ok(file !== undefined, 'nothing was packed');
const packed = join(folder, file);
writeFileSync(join(folder, 'package.json'), JSON.stringify(PROJECT));
await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${file}`], {
  cwd: folder,
});

describe('the packed client', () => {
  after(() => rmSync(folder, { recursive: true }));

  const installed = (): string => join(folder, 'node_modules/money-movement-client');

  it('the site offers the current client for download (npm run docs:client packs it)', async () => {
    const contents = (file: string) => run('tar', ['-xOzf', file], { maxBuffer: 1 << 24 });
    const offered = await contents(join(ROOT, 'docs/site/money-movement-client.tgz'));
    assert.equal(offered.stdout, (await contents(packed)).stdout);
  });

  it('contains only its own files, and none of the service', () => {
    assert.deepEqual(readdirSync(installed()).sort(), ['README.md', 'dist', 'package.json']);
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(installed(), 'package.json'), 'utf8'),
    );
    assert.deepEqual(dependencies, {});
  });

  it('needs no module of Node: importing it loads only its own files', () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)[^;]*?from '([^']+)'/gm,
      )) {
        assert.match(from, /^\.\.?\//, `${file} imports ${from}`);
        load(resolve(dirname(file), from));
      }
    };
    load(join(installed(), 'dist/index.js'));
    assert.ok(loaded.size > 5);
  });

  it('compiles in a strict project, where its errors can be distinguished', async () => {
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
    await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
    assert.equal(stdout, 'no_answer\n');
  });

  it('contains its programs, each with --help', async () => {
    for (const name of ['money-listen', 'money-trigger']) {
      const { stdout } = await run(join(folder, 'node_modules/.bin', name), ['--help']);
      assert.match(stdout, new RegExp(name));
    }
  });
});
