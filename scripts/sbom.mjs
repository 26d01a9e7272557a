/**
 * `npm run sbom`: the software bill of materials of what is shipped, as CycloneDX JSON, on standard output. It is what
 * package-lock.json pins, made by npm itself; nothing is asked of a registry. `npm run --silent sbom >sbom.cdx.json` keeps it.
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from './lib/paths.mjs';
import { findProgram } from './lib/run.mjs';

const npm = process.env.npm_execpath;
const [command, ...first] = npm ? [process.execPath, npm] : [findProgram('npm')];
const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'];
const { status } = spawnSync(command, [...first, ...args], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
process.exit(status ?? 1);
