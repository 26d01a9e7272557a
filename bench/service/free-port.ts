import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections, of which one could take the port before it is listened on. */
const FROM = 10_000;
const UNTIL = 30_000;

/** A port of the loopback address on which nothing listens now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, UNTIL);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
