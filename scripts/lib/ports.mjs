import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/** Whether this process could listen on this port of the loopback address. */
export function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Below the ports from which Linux and macOS take those of outgoing connections: one of these stays free until its server starts. */
const LISTENING = { first: 20_000, count: 10_000 };

/** Free ports by name: the previous ones if still free, so that bookmarks keep working. */
export async function choosePorts(names, earlier = {}) {
  const chosen = {};
  for (const name of names) {
    let port = earlier[name];
    while (!port || Object.values(chosen).includes(port) || !(await isFree(port)))
      port = LISTENING.first + randomInt(LISTENING.count);
    chosen[name] = port;
  }
  return chosen;
}

/** Whether the listener on the port speaks first, like a MySQL server. */
export function greets(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** Whether a GET of the address answers with this status. */
export async function answersOk(url, status = 200) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === status;
  } catch {
    return false;
  }
}
