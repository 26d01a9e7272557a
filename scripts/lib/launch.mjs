import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PrivateServers } from './private-servers.mjs';
import { buildSite, bundleWorkflows, compile } from './build.mjs';
import { findOrInstallMysql } from './mysql.mjs';
import { ROOT, RUN } from './paths.mjs';
import { bundlePrograms } from './programs.mjs';
import { say, UserError } from './progress.mjs';
import { endCommands } from './run.mjs';

/**
 * Runs `entry` (below dist/) with this process's arguments on a private, durable MySQL, whose administrator's URL it
 * gets as `variable`, and exits with its code. With `temporalVariable` it also gets its own in-memory Temporal server,
 * whose address is in that variable.
 */
export async function launch({ name, entry, variable, temporalVariable }) {
  const servers = new PrivateServers(join(RUN, name));
  let child;
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      interrupted = true;
      endCommands();
      // Ctrl-C reaches the program directly.
      if (signal !== 'SIGINT') child?.kill(signal);
    });
  }
  let exitCode = 1;
  try {
    const withTemporal = temporalVariable !== undefined;
    const options = {
      findMysql: findOrInstallMysql,
      bufferPool: '2G',
      redoLog: '2G',
      withTemporal,
    };
    const [{ mysqlAdminUrl, temporalAddress, temporaryFolder }] = await Promise.all([
      servers.open(options),
      compile().then(() => Promise.all([bundleWorkflows(), bundlePrograms(), buildSite()])),
    ]);
    if (!interrupted) {
      const temporary = temporaryFolder ? { TMPDIR: temporaryFolder } : {};
      const temporal = withTemporal ? { [temporalVariable]: temporalAddress } : {};
      const args = ['--enable-source-maps', join(ROOT, entry), ...process.argv.slice(2)];
      child = spawn(process.execPath, args, {
        cwd: ROOT,
        stdio: 'inherit',
        env: { ...process.env, ...temporary, [variable]: mysqlAdminUrl, ...temporal },
      });
      exitCode = await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
    }
  } catch (error) {
    if (!interrupted) say(error instanceof UserError ? error.message : error.stack);
    endCommands();
  }
  await servers.close();
  process.exit(interrupted ? 130 : exitCode);
}
