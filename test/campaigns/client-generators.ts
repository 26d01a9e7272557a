import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeApi } from '../../scripts/docs/described-api.js';
import { importScript } from '../helpers/scripts.js';

const run = promisify(execFile);

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}
interface Generators {
  readonly python: Program;
  readonly go: Program;
}

/** Imports every module of the generated package. */
const IMPORT_ALL = `import pkgutil, importlib, money
for module in pkgutil.walk_packages(money.__path__, "money."): importlib.import_module(module.name)`;

const NEWER = JSON.stringify({
  error: { error: { code: 'newer_code', message: 'Newer.', doc_url: 'https://docs.example.com' } },
});
/** Reads an error with a code that is newer than the client. */
const READ_NEWER_IN_PYTHON = `import json
from money.models import RateLimitedError
newer = json.load(open("newer.json"))
assert RateLimitedError.from_dict(newer["error"]).error.code == "newer_code"`;
const READ_NEWER_IN_GO = `package money

import (
	"encoding/json"
	"os"
	"testing"
)

func TestReadsNewerCodes(t *testing.T) {
	text, _ := os.ReadFile("../newer.json")
	var newer struct{ Error RateLimitedError }
	if err := json.Unmarshal(text, &newer); err != nil || newer.Error.Error.Code != "newer_code" {
		t.Fatal(err, newer.Error)
	}
}
`;

/**
 * The generators that the guide names make a client from the document of the API. It has every operation, and is valid code: each
 * Python module can be imported, and the Go compiler accepts the package. Both read an error code that the document does not
 * have.
 */
export async function clientGenerators(): Promise<string> {
  type Finder = { findClientGenerators(): Promise<Generators> };
  const { findClientGenerators } = await importScript<Finder>('client-generators.mjs');
  const { python, go } = await findClientGenerators();
  const { openApi, routes } = await describeApi({});
  const operations = routes.map(({ operationId }) => operationId);
  const folder = await mkdtemp(join(tmpdir(), 'generated-clients-'));
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApi));
    await writeFile(join(folder, 'newer.json'), NEWER);
    await inPython(python, folder, operations);
    await inGo(go, folder, operations);
  } finally {
    await rm(folder, { recursive: true });
  }
  return `${operations.length} operations: the generators for Python and Go make clients that have each, compile, and read newer error codes`;
}

async function inPython(
  { command, args, env }: Program,
  cwd: string,
  operations: readonly string[],
): Promise<void> {
  await writeFile(join(cwd, 'config.yml'), 'post_hooks: []\npackage_name_override: money\n');
  const generate = [
    'generate',
    '--path',
    'openapi.json',
    '--config',
    'config.yml',
    '--meta',
    'none',
  ];
  const { stdout, stderr } = await run(command, [...args, ...generate], { cwd, env });
  assert.doesNotMatch(stdout + stderr, /unable|warning|error/i);
  const modules = (await readdir(join(cwd, 'money/api'), { recursive: true })).map((file) =>
    file.replace(/^.*\//, ''),
  );
  const names = operations.map(
    (id) => `${id.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)}.py`,
  );
  assert.deepEqual(
    names.filter((name) => !modules.includes(name)),
    [],
  );
  for (const code of [IMPORT_ALL, READ_NEWER_IN_PYTHON])
    await run(command, ['-c', code], { cwd, env });
}

async function inGo(
  { command, args, env }: Program,
  folder: string,
  operations: readonly string[],
): Promise<void> {
  const cwd = join(folder, 'go');
  await mkdir(cwd);
  const generate = ['-generate', 'types,client', '-package', 'money', '-o', 'money.go'];
  await run(command, [...args, ...generate, '../openapi.json'], { cwd, env });
  const code = await readFile(join(cwd, 'money.go'), 'utf8');
  const missing = operations.filter(
    (id) => !new RegExp(`^func \\(c \\*Client\\) ${id}(WithBody)?\\(`, 'im').test(code),
  );
  assert.deepEqual(missing, []);
  await writeFile(join(cwd, 'newer_test.go'), READ_NEWER_IN_GO);
  for (const step of [
    ['mod', 'init', 'money'],
    ['mod', 'tidy'],
    ['vet', '.'],
    ['test', '.'],
  ])
    await run('go', step, { cwd, env });
  assert.ok(existsSync(join(cwd, 'go.sum')));
}
