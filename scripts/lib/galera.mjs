import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canInstall, install, unpack } from './apt.mjs';
import { findOrInstallMysql } from './mysql.mjs';
import { CACHE } from './paths.mjs';
import { say } from './progress.mjs';

const TREE = join(CACHE, 'galera');
const PROVIDER = '/usr/lib/galera/libgalera_smm.so';

const SCRIPTS = join(TREE, 'usr/bin');
const RSYNC = '/usr/bin/rsync';
/** A daemon started by root writes as the user `nobody` by default, and could not write the joining member's data. */
const RSYNC_AS_ROOT = join(SCRIPTS, 'rsync-as-root');
const rsyncAsRootScript = (rsync) => `#!/bin/sh
case " $* " in
  *' --daemon '*) exec ${rsync} --dparam=uid=root --dparam=gid=root "$@" ;;
esac
exec ${rsync} "$@"
`;

/** Each member has its own network namespace, which not every container may create. */
function canMakeNetworks() {
  const name = `probe-${process.pid}`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) spawnSync('ip', ['netns', 'del', name]);
  return isMade;
}

/**
 * Programs that turn this machine's MariaDB into a cluster, as `{server, provider, path, rsync}`: the library and rsync from
 * Debian's packages, and the scripts that copy a server to a joining member, unpacked into the cache, since installing
 * their package would start its server. Undefined if not available; what needs it is then skipped.
 */
export async function findGalera() {
  const { program: server, isMariaDb } = await findOrInstallMysql();
  const isInstalled = () => existsSync(PROVIDER) && existsSync(RSYNC_AS_ROOT);
  const isPossible = isMariaDb && canMakeNetworks();
  if (isPossible && !isInstalled() && canInstall()) {
    const failure = 'Galera could not be fetched';
    try {
      await install('Installing Galera and rsync (once)', failure, ['galera-4', 'rsync']);
      await unpack('Fetching the scripts of Galera (once)', failure, 'mariadb-server', TREE);
      copyFileSync(RSYNC, join(SCRIPTS, 'rsync-itself'));
      writeFileSync(RSYNC_AS_ROOT, rsyncAsRootScript(join(SCRIPTS, 'rsync-itself')), {
        mode: 0o755,
      });
    } catch (error) {
      say(`  ${error.message}`);
    }
  }
  if (isPossible && isInstalled())
    return { server, provider: PROVIDER, path: SCRIPTS, rsync: RSYNC_AS_ROOT };
  say(
    '  GALERA IS MISSING: MariaDB as a cluster is not tested. It needs MariaDB, and root on Debian that may create networks.',
  );
  return undefined;
}
