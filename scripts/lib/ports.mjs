import { connect, createServer } from 'node:net';

/** Whether this process could listen on this port of the loopback address. */
export function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Free ports by name: the previous ones if still free, so that bookmarks keep working. */
export async function choosePorts(names, earlier = {}) {
  const chosen = {};
  const servers = [];
  for (const name of names) {
    if (earlier[name] && (await isFree(earlier[name]))) {
      chosen[name] = earlier[name];
      continue;
    }
    // Each stays taken until all are chosen, so that no port is chosen twice.
    const server = createServer();
    await new Promise((resolve, reject) =>
      server.once('error', reject).listen(0, '127.0.0.1', resolve),
    );
    chosen[name] = server.address().port;
    servers.push(server);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
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
