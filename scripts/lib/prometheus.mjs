import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from './paths.mjs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const TREE = join(CACHE, 'prometheus');

/**
 * Prometheus and its promtool, as `{prometheus, promtool}`: on the PATH, or from Debian's package, which is unpacked into the cache and
 * not installed: it would run a server of its own. Undefined where there is none and none can be had; what needs it is then skipped.
 */
export async function findPrometheus() {
  const known = programs((name) => findProgram(name));
  if (known) return known;
  const cached = () => programs((name) => join(TREE, 'usr/bin', name));
  if (!cached() && findProgram('apt-get') && findProgram('dpkg-deb')) {
    try {
      await step("Fetching Prometheus (once, from Debian's packages)", fetchPrometheus);
    } catch (error) {
      say(`  ${error.message}`);
    }
  }
  const found = cached();
  if (!found)
    say('  NO PROMETHEUS IS AT HAND: alerts and dashboard are not tried. Put prometheus and promtool on the PATH.');
  return found;
}

function programs(place) {
  const [prometheus, promtool] = ['prometheus', 'promtool'].map(place);
  return prometheus && promtool && existsSync(prometheus) && existsSync(promtool)
    ? { prometheus, promtool }
    : undefined;
}

async function fetchPrometheus(onLine) {
  const failure = 'Prometheus could not be fetched';
  const draft = `${TREE}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const download = () => run('apt-get', ['download', 'prometheus'], { failure, onLine, cwd: draft });
    await download().catch(async () => {
      // The lists may be missing, as in a fresh container.
      await run('apt-get', ['update'], { failure, onLine });
      await download();
    });
    const file = readdirSync(draft).find((name) => name.endsWith('.deb'));
    await run('dpkg-deb', ['--extract', join(draft, file), join(draft, 'tree')], { failure, onLine });
    rmSync(TREE, { recursive: true, force: true });
    renameSync(join(draft, 'tree'), TREE);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
