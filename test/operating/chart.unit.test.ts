import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  MIGRATION_VARIABLES,
  SUPPORT_VARIABLES,
  VARIABLES,
  WORKER_VARIABLES,
} from '../../src/config/config.js';
import { assertComplete, assertKnown, plainName } from './variables.js';

const FOLDER = 'deploy/helm';
const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8');
const PARTS = {
  api: VARIABLES,
  worker: WORKER_VARIABLES,
  support: SUPPORT_VARIABLES,
  migrate: MIGRATION_VARIABLES,
} as const;

const part = z.looseObject({
  resources: z.object({
    requests: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.string()),
  }),
});
const values = z
  .looseObject({
    environment: z.record(z.string(), z.string()),
    secrets: z.record(z.string(), z.string()),
    api: part,
    worker: part,
    support: part,
    migrate: part,
  })
  .parse(parse(read('values.yaml')));

/** The variables that a template gives, those from files without their ending. */
function given(text: string): string[] {
  const own = Array.from(
    text.matchAll(/"([A-Z][A-Z_]+)" (?:"|\(|\.)|name: ([A-Z][A-Z_]+)$/gm),
    ([, one, other]) => one ?? other ?? '',
  );
  const keys = Array.from(
    text.matchAll(/"keys" \(list ([^)]*)\)/g),
    ([, list = '']) => list.match(/[a-z_]+/g) ?? [],
  );
  const files = own.some((name) => name.endsWith('_FILE'))
    ? []
    : keys.flat().map((key) => key.toUpperCase());
  return [...own.map(plainName), ...files];
}

describe('the Helm chart', () => {
  for (const [name, variables] of Object.entries(PARTS))
    it(`gives ${name} only variables that config.ts knows, and every variable that it requires`, () => {
      const names = given(read(`templates/${name}.yaml`));
      assertKnown(names, variables);
      assertComplete(names, variables);
    });

  it('passes common settings to every program, including the migrations', () => {
    for (const name of Object.keys(PARTS)) {
      const text = read(`templates/${name}.yaml`);
      assert.match(text, /include "money\.environment" \$part/, name);
      assert.match(text, /include "money\.(secretFiles|fileVariables)" \$part/, name);
      assert.match(text, /include "money\.(mounts|fileMounts)" \$part/, name);
      assert.match(text, /include "money\.(volumes|fileVolumes)" \$part/, name);
    }
  });

  it('sets only variables that config.ts knows, and none that is secret', () => {
    for (const variable of Object.keys(values.environment)) {
      assert.ok(variable in VARIABLES, variable);
      assert.doesNotMatch(
        VARIABLES[variable as keyof typeof VARIABLES].description ?? '',
        /^secret/,
      );
    }
    const all = Object.values(PARTS).flatMap((variables) => Object.entries(variables));
    const secret = all
      .filter(([, { description = '' }]) => description.startsWith('secret'))
      .map(([name]) => name);
    for (const file of [
      'values.yaml',
      ...Object.keys(PARTS).map((name) => `templates/${name}.yaml`),
    ])
      for (const name of secret)
        assert.doesNotMatch(read(file), new RegExp(`\\b${name}\\b(?!_FILE)`), `${file}: ${name}`);
  });

  it('limits the memory of every program, and the processor of none', () => {
    for (const name of Object.keys(PARTS) as (keyof typeof PARTS)[]) {
      assert.deepEqual(Object.keys(values[name].resources.limits), ['memory'], name);
      assert.deepEqual(
        Object.keys(values[name].resources.requests).sort(),
        ['cpu', 'memory'],
        name,
      );
    }
  });

  it('starts the programs with the same commands as docker-compose.yml', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8').replaceAll(
      /command:\n\s+\[/g,
      'command: [',
    );
    for (const name of ['worker', 'support']) {
      const command = /command: (\[.*\])/.exec(read(`templates/${name}.yaml`))?.[1] ?? 'none';
      assert.ok(compose.includes(`command: ${command}`), command);
    }
  });
});
