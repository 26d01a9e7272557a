/**
 * `npm run sbom`: the software bill of materials of what is shipped, as CycloneDX JSON on standard output. npm makes it
 * from package-lock.json, without asking a registry. `npm run --silent sbom >sbom.cdx.json` stores it.
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from './lib/paths.mjs';
import { findProgram } from './lib/run.mjs';

const MAX_BYTES = 64 * 1024 * 1024;
const npm = process.env.npm_execpath;
const [command, ...first] = npm ? [process.execPath, npm] : [findProgram('npm')];
// Not --omit=dev: npm would then omit packages that a tool needs too, although they are shipped.
const args = [
  ...first,
  'sbom',
  '--package-lock-only',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
];
const { status, stdout } = spawnSync(command, args, {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: MAX_BYTES,
});
if (status !== 0) process.exit(status ?? 1);

const bom = JSON.parse(stdout);
/** The search of the docs pages is shipped as a file of the built site. */
const isOfTools = ({ name, properties = [] }) =>
  name !== 'minisearch' && properties.some(({ name }) => name === 'cdx:npm:package:development');
const components = bom.components.filter((component) => !isOfTools(component));
const shipped = new Set(components.map((component) => component['bom-ref']));
const root = bom.metadata.component['bom-ref'];
const dependencies = bom.dependencies
  .filter(({ ref }) => ref === root || shipped.has(ref))
  .map(({ ref, dependsOn = [] }) => ({
    ref,
    dependsOn: dependsOn.filter((one) => shipped.has(one)),
  }));
process.stdout.write(`${JSON.stringify({ ...bom, components, dependencies }, null, 2)}\n`);
