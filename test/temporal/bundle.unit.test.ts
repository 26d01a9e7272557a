import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLE_FILE } from '../../src/temporal/workers.js';
import { WORKFLOW_TYPES } from '../../src/temporal/contracts.js';
import { tableRows } from '../operating/pages.js';
import * as workflows from '../../workflows/index.js';

/** The modules of our own code that workflows may reach. (docs/architecture.md, Layers) */
const OUR_OWN =
  /^\.\/dist\/(workflows\/[a-z-]+|src\/temporal\/contracts(?:-payload)?|src\/core\/[a-z-]+|src\/[a-z/-]+\/rules(\/[a-z-]+)?)\.js$/;
/** The SDK, and what it brings. */
const PACKAGES = ['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];

describe('the bundle of the workflows', () => {
  const code = readFileSync(BUNDLE_FILE, 'utf8');
  const modules = [...code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, name]) => name!);
  const packageOf = (name: string): string | undefined =>
    /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1];

  it('contains, of the code of the service, only workflows, contracts, rules and core, and no activities', () => {
    const own = modules.filter((name) => name.startsWith('./dist/'));
    assert(
      own.includes('./dist/workflows/transfer.js') &&
        own.includes('./dist/src/temporal/contracts.js'),
    );
    assert.deepEqual(
      own.filter((name) => !OUR_OWN.test(name)),
      [],
    );
  });

  it('contains no package but the SDK and its dependencies', () => {
    const packages = new Set(modules.flatMap((name) => packageOf(name) ?? []));
    assert(packages.has('@temporalio/workflow'));
    assert.deepEqual(
      [...packages].filter((name) => !PACKAGES.includes(name)),
      [],
    );
  });

  it('exports workflows and nothing else, each under the name by which it is started', () => {
    const exported = Object.entries(workflows);
    assert.deepEqual(exported.map(([name]) => name).sort(), Object.values(WORKFLOW_TYPES).sort());
    for (const [name, workflow] of exported)
      assert.equal(workflow.constructor.name, 'AsyncFunction', name);
  });

  it('is listed in docs/architecture.md, workflow by workflow', () => {
    const listed = tableRows('docs/architecture.md').map(([name]) => name);
    for (const type of Object.values(WORKFLOW_TYPES)) assert(listed.includes(type), type);
  });

  it('has a recorded history of every workflow', () => {
    const folder = join(dirname(BUNDLE_FILE), '../test/histories');
    const recorded = existsSync(folder) ? readdirSync(folder) : [];
    for (const type of Object.values(WORKFLOW_TYPES))
      assert(
        recorded.some((name) => name.startsWith(`${type}-`) && name.endsWith('.json')),
        type,
      );
  });
});
