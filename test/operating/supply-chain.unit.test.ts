import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { run } from '../ops/ops.js';

const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ version: z.string().optional(), dev: z.boolean().default(false) }),
    ),
  })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));

/**
 * The least version of each package in which what was published against it is mended, for each major version that has one. A
 * package that is shipped must be there, so that a change of its name is not taken for safety.
 */
const LEAST: Readonly<Record<string, readonly string[]>> = {
  koa: ['3.1.2'],
  typeorm: ['0.3.26', '1.0.0'],
  mysql2: ['3.23.1'],
  busboy: ['1.0.0'],
  multer: ['2.3.0'],
  '@grpc/grpc-js': ['1.10.9'],
  protobufjs: ['7.2.5', '8.0.0'],
  'csv-parse': ['4.4.6', '5.0.0', '7.0.0'],
  luxon: ['3.2.1'],
  yauzl: ['3.2.1'],
  zod: ['3.22.3', '4.0.0'],
  webpack: ['5.94.0'],
};

/** Packages that only tests and tools have, and their places. */
const MIN_OF_TOOLS: Readonly<Record<string, readonly string[]>> = {
  'brace-expansion': ['1.1.12', '2.0.2', '5.0.0'],
  'highlight.js': ['9.18.2', '10.4.1'],
  'cross-spawn': ['7.0.5'],
  'js-yaml': ['3.14.2', '4.1.1', '5.0.0'],
  jszip: ['3.8.0'],
  minimist: ['1.2.6'],
  'serialize-javascript': ['6.0.2', '7.0.3'],
  tmp: ['0.2.4'],
  yaml: ['2.2.2'],
};

const numbersOf = (version: string): readonly number[] =>
  version
    .split('-')[0]
    ?.split('.')
    .map((part) => Number.parseInt(part, 10)) ?? [];

/** Within its own major version, or newer than all of them. */
function isMended(version: string, least: readonly string[]): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const majors = least.map((one) => numbersOf(one)[0] ?? 0);
  if (major > Math.max(...majors)) return true;
  return least.some((one) => {
    const [ofMajor = 0, ofMinor = 0, ofPatch = 0] = numbersOf(one);
    return major === ofMajor && (minor > ofMinor || (minor === ofMinor && patch >= ofPatch));
  });
}

/** Every version of a package that an installation has, or a shipped one alone. */
function versionsOf(name: string, isShipped = false): readonly string[] {
  return Object.entries(lock.packages).flatMap(([path, { version, dev }]) =>
    path.endsWith(`node_modules/${name}`) && version !== undefined && !(isShipped && dev)
      ? [version]
      : [],
  );
}

describe('the packages', () => {
  for (const [name, least] of Object.entries({ ...LEAST, ...MIN_OF_TOOLS }))
    it(`have ${name} without a known vulnerability: ${least.join(', ')} or later`, () => {
      const versions = versionsOf(name);
      if (name in LEAST) assert.ok(versionsOf(name, true).length > 0, `${name} is not among them`);
      for (const version of versions) assert.ok(isMended(version, least), `${name} ${version}`);
    });

  it('all packages have exact versions', () => {
    const manifest = z
      .object({
        dependencies: z.record(z.string(), z.string()),
        devDependencies: z.record(z.string(), z.string()),
      })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')));
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
    }))
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
  });
});

describe('npm run sbom', () => {
  it('lists as CycloneDX every package that is shipped, and none that is not', async () => {
    const { code, stdout, stderr } = await run('../scripts/sbom.mjs', [], {
      HOME: process.env.HOME ?? '',
    });
    assert.equal(code, 0, stderr);
    const bom = z
      .object({
        bomFormat: z.literal('CycloneDX'),
        components: z.array(z.object({ name: z.string(), version: z.string(), purl: z.string() })),
      })
      .parse(JSON.parse(stdout));
    const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
    for (const name of Object.keys(LEAST))
      for (const version of versionsOf(name, true))
        assert.ok(listed.has(`${name}@${version}`), `${name}@${version}`);
    assert.ok(!bom.components.some(({ name }) => name === 'mocha' || name === 'typescript'));
  });
});
